// SPDX-License-Identifier: BSL-1.0
// shows numbers: variances lose no digits to a large mean or to one value far out; constants have variance 0
#define BOOST_TEST_MODULE batch_norm_moments
#include <boost/test/unit_test.hpp>

#include <sinter/layers/convolution.hpp>
#include <sinter/sinter.hpp>

#include <cmath>
#include <random>

/// Mean and variance of channels whose mean is large against their deviation, alone and behind what
/// makes them, against two passes in doubles over the same floats.
using namespace sinter;

namespace {

constexpr int side = 20, pixels = side * side, channels = 5;
constexpr auto norm = batch_norm_with<0., 1e-5>;   // the running variance is the batch's
constexpr auto offset = [](tensor x) { return x + parameter(x, "offset", extents(side, side, channels), zeros); };
constexpr auto alone = image<side, side, channels> >> offset >> norm;
constexpr auto behind_convolution = image<side, side, channels> >> offset >> conv2d<channels, 1> >> norm;
constexpr auto behind_depthwise = image<side, side, channels> >> offset >> depthwise_conv2d<1> >> norm;
constexpr auto behind_dense = features<channels> >> dense<channels> >> norm;
constexpr auto of_two_examples = image<side / 2, side, channels> >> norm;
constexpr auto before_relu = image<side, side, channels> >> offset >> conv2d<channels, 1> >> norm >> relu;

struct moments {
    double mean = 0, variance = 0;
};
moments of_channel(const std::vector<float>& x, int c) {
    moments m;
    for (std::size_t i = static_cast<std::size_t>(c); i < x.size(); i += channels)
        m.mean += static_cast<double>(x[i]) / pixels;
    for (std::size_t i = static_cast<std::size_t>(c); i < x.size(); i += channels)
        m.variance += (static_cast<double>(x[i]) - m.mean) * (static_cast<double>(x[i]) - m.mean) / pixels;
    return m;
}
struct result {
    std::vector<float> y, variance, gamma, dx;
};
template <class Net>
result run(Net, const std::vector<float>& x, const std::vector<float>& target, int batch, int threads = 1) {
    trainer<Net, mse_loss, sgd,
            build_options{pixels, program_options{.store_gradients = true}}> t(sgd{.learning_rate = 0.f},
                                                                                               {.threads = threads});
    result r;
    for (int i = 0; i < t.parameters(); ++i) {
        const std::string path = t.path(t.parameter(i));
        if (!path.ends_with("kernel")) continue;
        std::vector<float> k(static_cast<std::size_t>(t.parameter(i).s.size()), 0.f);   // each channel to itself
        for (int c = 0; c < channels; ++c) k[static_cast<std::size_t>(k.size() > channels ? c * channels + c : c)] = 1;
        t.set_plain(t.parameter(i), k.data());
    }
    const int width = static_cast<int>(x.size()) / batch;
    const data::input_view in{x.data(), nullptr, width};
    t.step({.x = x.data(), .y = target.data(), .size = batch, .inputs = {&in, 1}, .y_width = width});
    r.y.assign(t.output().data(), t.output().data() + x.size());
    r.variance = t.plain(t.state(1));
    for (int i = 0; i < t.parameters(); ++i) {
        if (t.path(t.parameter(i)).ends_with("gamma")) r.gamma = t.gradient(t.parameter(i));
        if (t.path(t.parameter(i)).ends_with("offset")) r.dx = t.gradient(t.parameter(i));
    }
    return r;
}

void check(const result& r, const std::vector<float>& x, const std::vector<float>& target, bool rectified = false) {
    for (int c = 0; c < channels; ++c) {
        const moments m = of_channel(x, c);
        // what the mean's rounding does
        const double scale = 1 / std::sqrt(m.variance + 1e-5), unit = std::abs(m.mean) * 6e-8 * scale;
        BOOST_TEST(std::abs(r.variance[static_cast<std::size_t>(c)] - m.variance) <= 1e-5 * m.variance);
        double along = 0, all = 0;
        std::vector<double> n, d;
        for (std::size_t i = static_cast<std::size_t>(c); i < x.size(); i += channels) {
            n.push_back((static_cast<double>(x[i]) - m.mean) * scale);
            const double y = rectified && r.y[i] == 0 ? 0. : n.back();
            BOOST_REQUIRE(std::abs(r.y[i] - y) <= 2e-5 * (1 + std::abs(y)) + unit);
            if (rectified && r.y[i] == 0) BOOST_REQUIRE(n.back() <= 2e-5 + unit);
            d.push_back(rectified && r.y[i] == 0 ? 0. : 2 *
                        (static_cast<double>(r.y[i]) - static_cast<double>(target[i])) / static_cast<double>(x.size()));
            along += d.back() * n.back();
            all += d.back();
        }
        const double loose = 1e-4 + 4 * unit;
        BOOST_TEST(std::abs(r.gamma[static_cast<std::size_t>(c)] - along) <= loose * 2 / channels);
        if (r.dx.empty()) continue;
        double most = 0;
        for (double v : d) most = std::max(most, std::abs(v));
        for (std::size_t i = 0; i < n.size(); ++i)
            BOOST_REQUIRE(std::abs(r.dx[i * channels + static_cast<std::size_t>(c)] -
                                   scale * (d[i] - all / pixels - n[i] * along / pixels)) <=
                          loose * scale * most);
    }
}
std::vector<float> drawn(double mean, double deviation, unsigned seed) {
    std::mt19937 g(seed);
    std::normal_distribution<double> normal;
    std::vector<float> x(pixels * channels);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>((i % channels % 2 ? -mean : mean) + deviation * normal(g));
    return x;
}

} // namespace

BOOST_AUTO_TEST_CASE(far_from_zero) {
    const std::vector<float> target = drawn(0, 1, 7);
    unsigned seed = 0;
    for (double mean : {0., 1., 1e3, 1e5, 1e7})
        for (double deviation : {0.1, 1., 1e3}) {
            if (mean * 1e-6 > deviation) continue;   // floats have no such numbers
            BOOST_TEST_CONTEXT("mean " << mean << ", deviation " << deviation) {
                const std::vector<float> x = drawn(mean, deviation, ++seed);
                check(run(alone, x, target, 1), x, target);
                check(run(behind_convolution, x, target, 1), x, target);
                check(run(behind_depthwise, x, target, 1), x, target);
                check(run(behind_dense, x, target, pixels), x, target);
                check(run(before_relu, x, target, 1), x, target, true);
            }
        }
}
/// Even where sums of it are rounded.
BOOST_AUTO_TEST_CASE(a_constant_has_no_variance) {
    const std::vector<float> zero(pixels * channels);
    for (float value : {1e7f, 1e7f / 3, 0.1f, -12345.678f, 3e-30f}) {
        const std::vector<float> x(pixels * channels, value);
        for (const result& r :
             {run(alone, x, zero, 1), run(behind_convolution, x, zero, 1), run(behind_depthwise, x, zero, 1),
              run(behind_dense, x, zero, pixels)}) {
            for (float v : r.variance) BOOST_TEST(v == 0.f);
            for (float y : r.y) BOOST_REQUIRE(y == 0.f);
        }
    }
}
/// One of the values about which it may sum is far away from all others.
BOOST_AUTO_TEST_CASE(the_first_value_is_no_rule) {
    const std::vector<float> target = drawn(0, 1, 7);
    for (const int place : {0, pixels * 97 / 251, pixels * 157 / 251, pixels - 1}) {
        std::vector<float> x = drawn(1e3, 1, 9);
        for (int c = 0; c < channels; ++c) x[static_cast<std::size_t>(place * channels + c)] = 2e5f;
        for (const result& r : {run(alone, x, target, 1), run(behind_convolution, x, target, 1),
                                run(behind_dense, x, target, pixels)})
            for (int c = 0; c < channels; ++c) {
                const double v = of_channel(x, c).variance;
                BOOST_TEST(std::abs(r.variance[static_cast<std::size_t>(c)] - v) <= 1e-6 * v);
            }
    }
}
/// As corners of padded images are.
BOOST_AUTO_TEST_CASE(first_pixels_are_unlike_the_others) {
    const std::vector<float> target = drawn(0, 1, 7);
    std::vector<float> x = drawn(1e3, 1, 9);
    for (int c = 0; c < channels; ++c)
        for (const int place : {0, pixels / 2}) x[static_cast<std::size_t>(place * channels + c)] = 2e5f;
    const result r = run(of_two_examples, x, target, 2);
    for (int c = 0; c < channels; ++c) {
        const double v = of_channel(x, c).variance;
        BOOST_TEST(std::abs(r.variance[static_cast<std::size_t>(c)] - v) <= 1e-6 * v);
    }
}
BOOST_AUTO_TEST_CASE(threads_change_nothing) {
    const std::vector<float> target = drawn(0, 1, 7), x = drawn(1e3, 0.5, 11);
    const result one = run(behind_convolution, x, target, 1, 1), three = run(behind_convolution, x, target, 1, 3);
    BOOST_TEST(one.y == three.y);
    BOOST_TEST(one.variance == three.variance);
    BOOST_TEST(one.dx == three.dx);
}
