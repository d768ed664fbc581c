// SPDX-License-Identifier: BSL-1.0
// shows numbers: variances lose no digits to a large mean or to one value far out; constants have variance 0
#define BOOST_TEST_MODULE norm_moments
#include <boost/test/unit_test.hpp>

#include <sinter/layers/channel_norm.hpp>
#include <sinter/ops/stddev.hpp>
#include <sinter/sinter.hpp>

#include "io/error_parts.hpp"

#include <cmath>
#include <random>

/// Norms of examples whose mean is large against their deviation, against two passes in doubles over the
/// same floats; and where squares leave the range of floats.
using namespace sinter;

namespace {

using floats = std::vector<float>;

template <class Net>
floats outputs_of(Net, const floats& x, int threads = 1) {
    trainer<Net, mse_loss, sgd, 1> t({}, {.threads = threads});
    const data::input_view in{x.data(), nullptr, static_cast<int>(x.size())};
    const span<const float> y = t.predict({.x = x.data(), .size = 1, .inputs = {&in, 1}});
    return {y.begin(), y.end()};
}
/// (x - mean) / sqrt(variance + epsilon) over numbers of equal `group`.
template <class Group>
void check(const floats& y, const floats& x, double epsilon, Group group, const char* what) {
    BOOST_REQUIRE(y.size() == x.size());
    std::vector<double> n(x.size()), mean(n), variance(n);
    const auto at = [&](std::size_t i) { return static_cast<std::size_t>(group(static_cast<int>(i))); };
    for (std::size_t i = 0; i < x.size(); ++i) ++n[at(i)], mean[at(i)] += static_cast<double>(x[i]);
    for (std::size_t i = 0; i < n.size(); ++i) mean[i] /= n[i];
    for (std::size_t i = 0; i < x.size(); ++i)
        variance[at(i)] += std::pow(static_cast<double>(x[i]) - mean[at(i)], 2) / n[at(i)];
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double m = mean[at(i)], s = 1 / std::sqrt(variance[at(i)] + epsilon);
        const double want = (static_cast<double>(x[i]) - m) * s, mean_rounded = std::abs(m) * 6.1e-8 * s;
        BOOST_TEST_REQUIRE(std::abs(static_cast<double>(y[i]) - want) <= (1 + std::abs(want)) * (2e-5 + mean_rounded),
                           what << ": number " << i << " is " << y[i] << ", not " << want);
    }
}
floats drawn(int n, double mean, double deviation, unsigned seed) {
    std::mt19937 g(seed);
    std::normal_distribution<double> normal;
    floats x;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(mean + deviation * normal(g)));
    return x;
}
constexpr int rows = 7, width = 1000, side = 33, channels = 6, all = side * side * channels;
constexpr auto of_rows = array<rows, width> >> layer_norm;
constexpr auto groups = image<side, side, channels> >> group_norm<2>;
constexpr auto instances = image<side, side, channels> >> instance_norm;
constexpr auto row_variance = array<rows, width> >> [](tensor x) { return var(x, {-1}); };
constexpr auto row_deviation = array<rows, width> >> [](tensor x) { return ops::stddev(x, {-1}); };
constexpr auto place_variance = array<width, rows> >> [](tensor x) { return var(x, {0}); };

} // namespace

BOOST_AUTO_TEST_CASE(far_from_zero) {
    unsigned seed = 0;
    for (double mean : {0., 1., 1e3, -1e5, 1e7})
        for (double deviation : {0.1, 1., 1e3}) {
            if (std::abs(mean) * 1e-6 > deviation) continue;   // floats have no such numbers
            const floats x = drawn(rows * width, mean, deviation, ++seed), z = drawn(all, mean, deviation, ++seed);
            check(outputs_of(of_rows, x), x, 1e-5, [](int i) { return i / width; }, "layer_norm");
            check(outputs_of(groups, z), z, 1e-5, [](int i) { return i % channels / 3; }, "group_norm");
            check(outputs_of(instances, z), z, 1e-5, [](int i) { return i % channels; }, "instance_norm");
        }
}
/// Numbers that lie a few roundings of their mean apart.
BOOST_AUTO_TEST_CASE(neighbours) {
    for (const float value : {1e7f, 123456.7f, -3e3f, 1e12f}) {
        floats x(rows * width, value);
        for (std::size_t i = 0; i < x.size(); i += 3) x[i] = std::nextafter(std::nextafter(value, 1e30f), 1e30f);
        const floats v = outputs_of(row_variance, x), s = outputs_of(row_deviation, x);
        for (int r = 0; r < rows; ++r) {
            double mean = 0, variance = 0;
            for (int i = 0; i < width; ++i)
                mean += static_cast<double>(x[static_cast<std::size_t>(r * width + i)]) / width;
            for (int i = 0; i < width; ++i)
                variance += std::pow(static_cast<double>(x[static_cast<std::size_t>(r * width + i)]) - mean, 2) / width;
            BOOST_TEST(v[static_cast<std::size_t>(r)] == variance, boost::test_tools::tolerance(1e-5));
            BOOST_TEST(s[static_cast<std::size_t>(r)] == std::sqrt(variance), boost::test_tools::tolerance(1e-5));
        }
        check(outputs_of(of_rows, x), x, 1e-5, [](int i) { return i / width; }, "layer_norm");
    }
}
/// Even where sums of it are rounded.
BOOST_AUTO_TEST_CASE(a_constant_has_no_variance) {
    for (const float value : {1e7f, 1e7f / 3, 0.1f, -12345.678f, 3e-30f, 1e15f, 2.5e18f}) {
        const floats x(rows * width, value), z(all, value);
        for (const floats& y :
             {outputs_of(of_rows, x), outputs_of(groups, z), outputs_of(instances, z), outputs_of(row_variance, x),
              outputs_of(row_deviation, x), outputs_of(place_variance, x)})
            for (const float v : y) BOOST_TEST_REQUIRE(v == 0.f);
    }
}
/// Distances of 1.8e19 and more have squares that floats do not: the pages say what comes of it.
BOOST_AUTO_TEST_CASE(squares_beyond_floats) {
    floats x(rows * width), z(all), small = drawn(rows * width, 0, 1, 3);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 ? 4e19f : -4e19f;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = i / channels % 2 ? 4e19f : -4e19f;
    for (const float size : {1e22f, 3e26f, 1e30f, 1e34f}) {   // of any mean
        floats far = drawn(rows * width, 1, 0.5, 7);
        for (float& v : far) v *= size;
        for (const float v : outputs_of(of_rows, far)) BOOST_TEST_REQUIRE(v == 0.f, size);
    }
    for (const floats& y : {outputs_of(of_rows, x), outputs_of(groups, z), outputs_of(instances, z),
                            outputs_of(array<rows, width> >> rms_norm, x)})
        for (const float v : y) BOOST_TEST_REQUIRE(v == 0.f);
    for (const float v : outputs_of(row_variance, x)) BOOST_TEST(std::isinf(v));
    for (const float v : outputs_of(row_deviation, x)) BOOST_TEST(v == 4e19f, boost::test_tools::tolerance(1e-5f));
    estimator m{features<2> >> dense<2> >> batch_norm, mse, sgd{}, trainer_options{.threads = 1}};
    const float identity[4] = {1, 0, 0, 1};
    m.inner().set_plain(m.inner().parameter(0), identity);
    auto data = data::dataset(extents(2), floats(x.begin(), x.begin() + 64)).targets(extents(2), floats(64)) |
        data::batch(32);
    for (int i = 0; i < 32; ++i)
        x[static_cast<std::size_t>(2 * i)] = x[static_cast<std::size_t>(2 * i + 1)] = i % 2 ? 4e19f : -4e19f;
    auto apart = data::dataset(extents(2), floats(x.begin(), x.begin() + 64)).targets(extents(2), floats(64)) |
        data::batch(32);
    m.train(data, {.progress = nullptr});
    check_error<data_error>([&] { m.train(apart, {.progress = nullptr}); }, "not finite", "", "", "");
    for (float& v : small) v *= 1e17f;   // as long as their sum is in range, all is well
    check(outputs_of(of_rows, small), small, 1e-5, [](int i) { return i / width; }, "layer_norm");
}
