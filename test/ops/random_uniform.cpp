// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE random_uniform
#include <boost/test/unit_test.hpp>

#include <sinter/ops/random_uniform.hpp>

#include <sinter/ops/equal.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

/// The numbers themselves: `a` of ones times them.
template <shape A>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return a * ops::random_uniform(a); }
};
template <shape A, program_options O = as_fused>
std::vector<float> draw(std::uint64_t seed, std::int64_t step, int batch = 5, int threads = 1) {
    const auto p = make_run<op_net<op_of<A>>, weighted_sum, O>(threads);
    p->seed = seed;
    p->run(batch, {doubles(extents_with(A, batch), 1.), doubles(extents_with(A, batch), 1.)}, step);
    // the gradient of the sum must see the same numbers: the mean of each over the batch
    std::vector<float> y = p->output(0, batch);
    doubles mean({A.size()});
    for (int i = 0; i < static_cast<int>(y.size()); ++i)
        mean[i % A.size()] += y[static_cast<std::size_t>(i)] / batch / A.size();
    check_close(p->gradient(0), mean, 1e-6, "gradient");
    return y;
}
constexpr shape many = batch_of(3, 700);

BOOST_AUTO_TEST_CASE(of_any_extents) {   // `draw` compares the gradient
    for (float u : draw<drawn_batch(1, 3)>(1, 0, 3)) BOOST_TEST((u >= 0 && u < 1));
}
BOOST_AUTO_TEST_CASE(looks_uniform) {
    const auto x = draw<many>(1, 0);
    double mean = 0, square = 0;
    std::vector<int> bins(16);
    for (float u : x) {
        BOOST_REQUIRE((u >= 0 && u < 1));
        mean += u, square += u * u;
        ++bins[static_cast<std::size_t>(u * 16)];
    }
    const double n = static_cast<double>(x.size());
    BOOST_TEST(std::abs(mean / n - 1. / 2) < 4 / std::sqrt(12 * n));
    BOOST_TEST(std::abs(square / n - 1. / 3) < 4 * std::sqrt(4. / 45 / n));
    for (int b : bins) BOOST_TEST(std::abs(b - n / 16) < 5 * std::sqrt(n / 16));
}
BOOST_AUTO_TEST_CASE(depends_on_seed_step_and_element_alone) {
    const auto x = draw<many>(1, 7);
    BOOST_TEST((draw<many>(1, 7) == x));
    BOOST_TEST((draw<many>(1, 7, 5, 2) == x));
    BOOST_TEST((draw<many, as_unfused>(1, 7) == x));
    BOOST_TEST((draw<many>(2, 7) != x));
    BOOST_TEST((draw<many>(1, 8) != x));
    auto few = draw<many>(1, 7, 2);
    BOOST_TEST(std::equal(few.begin(), few.end(), x.begin()));
}

struct two_streams {
    static constexpr shape operands[] = {extents(200)};
    static constexpr tensor apply(tensor a) { return equal(ops::random_uniform(a), ops::random_uniform(a)) * a; }
};
BOOST_AUTO_TEST_CASE(each_call_draws_its_own) {
    double same = 0;
    for (float x : run_op<two_streams>({doubles({200}, 1.)}).y) same += x;
    BOOST_TEST(same <= 1);
}
