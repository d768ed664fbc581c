// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE any_extents
#include <boost/test/unit_test.hpp>

#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/expr/input.hpp>

#include "support/convolutions.hpp"

/// Layers with extents of their own over drawn shapes, and where axes are 1. (What else they
/// promise, a file for each layer tells.)
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

/// The input of these extents, times a parameter, so that the layer's gradient shows.
template <shape S>
struct input_of : input_tag {
    static constexpr bundle make_inputs(graph& g) {
        const tensor x = make<op::input>(&g, S, {}, {g.inputs.n});
        g.inputs.push(x.id);
        return x * parameter(x, "scale", without_batch(S), ones);
    }
};
using all_doubles = std::vector<doubles>;

static doubles scaled(const all_doubles& p, const all_doubles& x) {
    return map(x[0], p[0], [](double a, double b) { return a * b; });
}

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, over rows or over everything in front of the last axis.
static doubles normalised(const all_doubles& p, const all_doubles& in, bool rows, double epsilon) {
    const doubles x = scaled(p, in);
    const int c = x.d.back(), groups = rows ? x.size() / c : c;
    doubles n({groups}), mean({groups}), var({groups}), y(x.d);
    auto group = [&](int i) { return rows ? i / c : i % c; };
    for (int i = 0; i < x.size(); ++i) n[group(i)] += 1, mean[group(i)] += x[i];
    for (int k = 0; k < groups; ++k) mean[k] /= n[k];
    for (int i = 0; i < x.size(); ++i) var[group(i)] += std::pow(x[i] - mean[group(i)], 2) / n[group(i)];
    for (int i = 0; i < x.size(); ++i)
        y[i] = (x[i] - mean[group(i)]) / std::sqrt(var[group(i)] + epsilon) * p[1][i % c] + p[2][i % c];
    return y;
}
template <shape S>
void check_batch_norm() {
    check_net<programs::fused_only>(input_of<S>{} >> batch_norm, [](const auto& p, const auto& x) {
        return std::vector{normalised(p, x, false, 1e-3)};
    }, {.value = 5e-5, .gradient = 2e-4});
}
template <shape S>
void check_layer_norm() {
    check_net<programs::fused_only>(input_of<S>{} >> layer_norm, [](const auto& p, const auto& x) {
        return std::vector{normalised(p, x, true, 1e-5)};
    }, {.value = 5e-5, .gradient = 2e-4});
}
BOOST_AUTO_TEST_CASE(batch_norms) {
    check_batch_norm<batch_of(1)>();
    check_batch_norm<drawn_batch(1, 3)>();
    check_batch_norm<drawn_batch(2, 2)>();
}
BOOST_AUTO_TEST_CASE(layer_norms) {
    check_layer_norm<batch_of(1)>();   // a row of one element is its own mean: what comes out is beta
    check_layer_norm<batch_of(1, drawn(3, 2).rows() + 2)>();
    check_layer_norm<drawn_batch(4, 3)>();
}

template <shape S, int Out>
void check_dense() {
    check_net<programs::fused_only>(input_of<S>{} >> dense<Out>, [](const auto& p, const auto& in) {
        const doubles x = scaled(p, in);
        auto d = x.d;
        const int k = d.back();
        d.back() = Out;
        doubles y(d);
        for (int i = 0; i < y.size(); ++i) {
            y[i] = p[2][i % Out];
            for (int t = 0; t < k; ++t) y[i] += x[i / Out * k + t] * p[1][t * Out + i % Out];
        }
        return std::vector{y};
    });
}
BOOST_AUTO_TEST_CASE(dense_layers) {
    check_dense<batch_of(1), 1>();
    check_dense<drawn_batch(5, 2), drawn(7, 1).last()>();
    check_dense<drawn_batch(6, 3), 17>();
}

BOOST_AUTO_TEST_CASE(convolution_and_pools) {
    constexpr drawn_window d(1, window{});
    constexpr int k = d.square();
    check_net<programs::fused_only>(input_of<d.image()>{} >> conv2d<d.results, k> >> max_pool<2, by_two>,
                                    [](const auto& p, const auto& x) {
        const doubles y = map(convolution(scaled(p, x), p[1], {}), p[2], [](double a, double b) { return a + b; });
        return std::vector{max_pooled(y, 2, by_two)};
    });
    static constexpr drawn_window e(3, valid);   // static: the lambda need not capture it
    check_net<programs::fused_only>(input_of<e.image()>{} >> avg_pool<e.square(), valid> >> global_avg_pool,
                                    [](const auto& p, const auto& x) {
        const doubles y = mean_pooled(scaled(p, x), e.square(), valid);
        const int c = y.d[3], pixels = y.d[1] * y.d[2];
        doubles mean({y.d[0], c});
        for (int i = 0; i < y.size(); ++i) mean[i / (pixels * c) * c + i % c] += y[i] / pixels;
        return std::vector{mean};
    });
}
