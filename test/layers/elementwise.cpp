// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE elementwise
#include <boost/test/unit_test.hpp>

#include <sinter/layers/activation.hpp>
#include <sinter/layers/elementwise.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/expr/scalar_functions.hpp>

#include <algorithm>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr auto swish = elementwise([](scalar x) { return x / (1.f + exp(-x)); });
constexpr auto blend = elementwise([](scalar a, scalar b) {
    return maximum(a, b) * tanh(a) - sqrt(minimum(b, 0.5f) * minimum(b, 0.5f) + 1.f) / 2.f +
        greater(a, 0.f) * log(a * a + 1.f) + erf(-b);
});
constexpr auto net = [](tensor x) {
    const tensor a = x * parameter(x, "a", extents(5), ones), b = x + parameter(x, "b", extents(5), ones);
    return blend(swish(a), b);
};
BOOST_AUTO_TEST_CASE(users_own_functions) {
    check_net(features<5> >> net, [](const auto& p, const auto& x) {
        doubles y(x[0].d);
        for (int i = 0; i < y.size(); ++i) {
            double a = x[0][i] * p[0][i % 5];
            const double b = x[0][i] + p[1][i % 5];
            a = a / (1 + std::exp(-a));
            y[i] = std::max(a, b) * std::tanh(a) - std::sqrt(std::pow(std::min(b, 0.5), 2) + 1) / 2 +
                   (a > 0 ? std::log(a * a + 1) : 0) + std::erf(-b);
        }
        return std::vector{y};
    });
}

constexpr auto many = elementwise([](scalar x) {
    const scalar inside = logical_and(greater(x, -0.5f), less_equal(x, 0.75f));
    const scalar y = where(inside, sin(x) + cos(x) * 2.f, atan2(x, 0.5f)) + abs(x) * sign(x) + pow(2.f, x) +
        log1p(square(x));
    return y + clip(x, -0.25f, 0.5f) * rsqrt(x * x + 1.f) + lgamma(x + 3.f) + floor(x * 4.f) * x + silu(x) +
        leaky_relu<>(x);
});
BOOST_AUTO_TEST_CASE(more_functions) {
    constexpr auto own = [](tensor x) { return x * parameter(x, "a", extents(5), ones); };
    check_net<programs::fused_only>(features<5> >> own >> many, [](const auto& p, const auto& x) {
        return std::vector{map(x[0], p[0], [](double a, double b) {
            const double v = a * b, s = v / std::sqrt(v * v + 1);
            return (v > -0.5 && v <= 0.75 ? std::sin(v) + 2 * std::cos(v) : std::atan2(v, 0.5)) + v + std::pow(2, v)
                   + std::log1p(v * v) +
                   std::clamp(v, -0.25, 0.5) * (s / v) + std::lgamma(v + 3) + std::floor(4 * v) * v +
                   v / (1 + std::exp(-v)) + (v > 0 ? v : 0.01 * v);
        })};
    });
}
