// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE activation
#include <boost/test/unit_test.hpp>

#include <sinter/layers/activation.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/parameter.hpp>

#include <algorithm>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

/// A parameter a feature, so that the gradient before the activation shows.
constexpr auto scale = [](tensor x) { return x * parameter(x, "scale", extents(7), ones); };
template <class Layer>
void check(Layer layer, double (*value)(double)) {
    check_net(features<7> >> scale >> layer, [&](const auto& p, const auto& x) {
        return std::vector{map(x[0], p[0], [&](double a, double b) { return value(a * b); })};
    });
}
BOOST_AUTO_TEST_CASE(each) {
    check(relu, [](double x) { return std::max(x, 0.); });
    check(activation::tanh, [](double x) { return std::tanh(x); });
    check(gelu, [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.)); });
}
BOOST_AUTO_TEST_CASE(with_numbers) {
    constexpr auto all = [](tensor x) {
        return leaky_relu<0.2f>(x) + elu<>(x) + celu<2>(x) * hard_tanh<-0.5f, 0.25f>(x) + threshold<0.1f, -1>(x) -
            relu6(x) +
               hard_sigmoid(x) * softsign(x);
    };
    check_net<programs::fused_only>(features<7> >> scale >> all, [](const auto& p, const auto& x) {
        return std::vector{map(x[0], p[0], [](double a, double b) {
            const double v = a * b, low = std::expm1(v);
            return (v > 0 ? v : 0.2 * v) + (v > 0 ? v : low) +
                (v > 0 ? v : 2 * std::expm1(v / 2)) * std::clamp(v, -0.5, 0.25) +
                   (v > 0.1 ? v : -1) - std::clamp(v, 0., 6.) + std::clamp(v / 6 + 0.5, 0., 1.) * v / (1 + std::abs(v));
        })};
    });
}
BOOST_AUTO_TEST_CASE(a_slope_is_learned) {
    check_net<programs::fused_only>(features<7> >> scale >> prelu, [](const auto& p, const auto& x) {
        const doubles v = map(x[0], p[0], [](double a, double b) { return a * b; });
        return std::vector{map(v, p[1], [](double a, double slope) { return a > 0 ? a : slope * a; })};
    });
}
BOOST_AUTO_TEST_CASE(halves_gate_each_other) {
    constexpr auto six = [](tensor x) { return x * parameter(x, "scale", extents(6), ones); };
    check_net<programs::fused_only>(features<6> >> six >> glu, [](const auto& p, const auto& x) {
        doubles y({x[0].d[0], 3});
        for (int i = 0; i < y.size(); ++i) {
            const int row = i / 3, k = i % 3;
            y[i] = x[0][6 * row + k] * p[0][k] / (1 + std::exp(-x[0][6 * row + 3 + k] * p[0][3 + k]));
        }
        return std::vector{y};
    });
}
BOOST_AUTO_TEST_CASE(as_functions_too) {
    constexpr auto f = [](tensor x) { return relu(x) + sigmoid(x) + softmax(x) + log_softmax(x) + activation::exp(x); };
    check_net(features<7> >> scale >> f, [](const auto& p, const auto& x) {
        doubles y = map(x[0], p[0], [](double a, double b) { return a * b; });
        for (int n = 0; n < y.d[0]; ++n) {
            double all = 0;
            for (int i = 0; i < 7; ++i) all += std::exp(y[7 * n + i]);
            for (int i = 0; i < 7; ++i) {
                double& v = y[7 * n + i];
                v = std::max(v, 0.) + 1 / (1 + std::exp(-v)) + std::exp(v) / all + v - std::log(all) + std::exp(v);
            }
        }
        return std::vector{y};
    }, {}, 5);
}
