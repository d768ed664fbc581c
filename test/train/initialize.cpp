// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE initial_values
#include <boost/test/unit_test.hpp>
#include <sinter/graph/initializer.hpp>
#include <sinter/train/initialize.hpp>
#include <cmath>

using namespace sinter;

static std::vector<float> draw(const initializer& init, shape s, const char* path = "layer/kernel",
                               std::uint64_t seed = 3) {
    variable_info v;
    v.s = s;
    v.init = init;
    return sinter::detail::initial_values(v, path, seed);
}
struct moments {
    double mean = 0, deviation = 0, least = 1e30, most = -1e30;
    explicit moments(const std::vector<float>& x) {
        for (float f : x) {
            const double e = static_cast<double>(f);
            mean += e / static_cast<double>(x.size());
            least = std::min(least, e);
            most = std::max(most, e);
        }
        for (float f : x) deviation += std::pow(static_cast<double>(f) - mean, 2) / static_cast<double>(x.size());
        deviation = std::sqrt(deviation);
    }
};
// the mean of 100,000 numbers is off by 0.003 deviations, never by five times that
constexpr shape large = extents(200, 500);

static void check(const initializer& init, double mean, double deviation, double low, double high) {
    const moments m(draw(init, large));
    BOOST_TEST(std::abs(m.mean - mean) <= 0.016 * deviation, "mean " << m.mean << ", needed " << mean);
    BOOST_TEST(std::abs(m.deviation / deviation - 1) <= 0.012, "deviation " << m.deviation << ", needed " << deviation);
    BOOST_TEST((m.least >= low && m.most <= high),
               m.least << " to " << m.most << " is not in " << low << " to " << high);
}
static void check_uniform(const initializer& init, double limit) {
    check(init, 0, limit / std::sqrt(3.), -limit - 1e-7, limit + 1e-7);
}
static void check_normal(const initializer& init, double deviation) {
    check(init, 0, deviation, -6 * deviation, 6 * deviation);
}

BOOST_AUTO_TEST_CASE(the_same_everywhere) {
    for (float e : draw(zeros, extents(7))) BOOST_TEST(e == 0);
    for (float e : draw(ones, extents(7))) BOOST_TEST(e == 1);
    for (float e : draw(constant_of(-2.5f), extents(7))) BOOST_TEST(e == -2.5f);
}
BOOST_AUTO_TEST_CASE(uniform_and_normal) {
    check(uniform_of(1.f, 3.f), 2, 1 / std::sqrt(3.), 1, 3);
    check(normal_of(0.5f, -1.f), -1, 0.5, -4, 2);
}
BOOST_AUTO_TEST_CASE(truncated_normal) {   // variance of a standard normal within +-2: 1 - 4 phi(2) / (2 Phi(2) - 1)
    const double phi = std::exp(-2.) / std::sqrt(2 * std::acos(-1.)), inside = std::erf(std::sqrt(2.));
    check(truncated_normal_of(0.5f, 1.f), 1, 0.5 * std::sqrt(1 - 4 * phi / inside), 0, 2);
    const moments m(draw(truncated_normal_of(1.f), large));
    BOOST_TEST(m.most > 1.99);
    BOOST_TEST(m.least < -1.99);
}
BOOST_AUTO_TEST_CASE(by_the_number_of_inputs_and_outputs) {
    check_uniform(glorot_uniform(200, 500), std::sqrt(6. / 700));
    check_normal(glorot_normal(200, 500), std::sqrt(2. / 700));
    check_uniform(he_uniform(200), std::sqrt(6. / 200));
    check_normal(he_normal(200), std::sqrt(2. / 200));
    check_uniform(lecun_uniform(200), std::sqrt(3. / 200));
    check_normal(lecun_normal(200), std::sqrt(1. / 200));
}

static void check_orthogonal(shape s, double gain) {
    const std::vector<float> q = draw(orthogonal_of(static_cast<float>(gain)), s);
    const int columns = s.last(), rows = static_cast<int>(s.size()) / columns;
    const bool tall = rows >= columns;
    const int count = tall ? columns : rows, length = tall ? rows : columns;
    const auto at = [&](int vector, int i) {
        return static_cast<double>(q[static_cast<std::size_t>(tall ? i * columns + vector : vector * columns + i)]);
    };
    for (int a = 0; a < count; ++a)
        for (int b = 0; b < count; ++b) {
            double product = 0;
            for (int i = 0; i < length; ++i) product += at(a, i) * at(b, i);
            BOOST_TEST(std::abs(product - (a == b ? gain * gain : 0)) <= 3e-6, a << " and " << b << ": " << product);
        }
}
BOOST_AUTO_TEST_CASE(orthogonal_matrices) {
    check_orthogonal(extents(40, 40), 1);
    check_orthogonal(extents(70, 20), 1.5);
    check_orthogonal(extents(20, 70), 0.5);
    check_orthogonal(extents(3, 3, 4, 8), 1);   // a convolution's kernel: [36, 8]
    check_orthogonal(extents(83, 301), 1);   // more than a batch of vectors, and than a piece of one
    check_orthogonal(extents(1, 5), 1);
    check_orthogonal(extents(5), 1);            // one row
}
// a part in 1e12 is new in each: once would not do
BOOST_AUTO_TEST_CASE(nearly_dependent_vectors_become_orthonormal) {
    sinter::detail::orthonormal_vectors v(30, 50);
    random_stream r(3);
    for (std::size_t k = 0; k < 30; ++k)
        for (std::size_t i = 0; i < 50; ++i)
            v.at(k, i) = (k % 10 == i ? 1. : 0.) + 1e-12 * static_cast<double>(r.normal());
    v.orthonormalize();
    for (std::size_t a = 0; a < 30; ++a)
        for (std::size_t b = 0; b < 30; ++b) {
            double product = 0;
            for (std::size_t i = 0; i < 50; ++i) product += v.at(a, i) * v.at(b, i);
            BOOST_TEST(std::abs(product - (a == b)) <= 1e-10, a << " and " << b << ": " << product);
        }
}
BOOST_AUTO_TEST_CASE(no_direction_is_preferred) {   // else diagonals would all be positive, as plain QR's are not
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed)
        sum += static_cast<double>(draw(orthogonal, extents(4, 4), "q", seed)[0]) / 400;
    BOOST_TEST(std::abs(sum) < 0.1);   // of deviation 1/2 each, 0.025 their mean
}
BOOST_AUTO_TEST_CASE(identity_matrices) {
    const std::vector<float> square = draw(identity, extents(3, 3)), wide = draw(identity_of(2.f), extents(2, 2, 3));
    for (std::size_t i = 0; i < 9; ++i) BOOST_TEST(square[i] == (i % 4 == 0 ? 1.f : 0.f));
    const float want[] = {2, 0, 0, 0, 2, 0, 2, 0, 0, 0, 2, 0};
    for (std::size_t i = 0; i < 12; ++i) BOOST_TEST(wide[i] == want[i]);
    for (float e : draw(identity, extents(4))) BOOST_TEST(e == 1);
}
BOOST_AUTO_TEST_CASE(each_seed_and_each_name_has_its_own) {
    for (const initializer& init : {uniform_of(-1, 1), normal_of(1), truncated_normal_of(1), orthogonal}) {
        const auto x = draw(init, extents(8, 8), "a/kernel", 1);
        BOOST_TEST(x == draw(init, extents(8, 8), "a/kernel", 1));
        BOOST_TEST(x != draw(init, extents(8, 8), "a/kernel", 2));
        BOOST_TEST(x != draw(init, extents(8, 8), "b/kernel", 1));
    }
}
