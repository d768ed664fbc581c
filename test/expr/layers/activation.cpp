// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE activation
#include <boost/test/unit_test.hpp>

#include <sinter/expr/layers/activation.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/parameter.hpp>

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
    });
}
