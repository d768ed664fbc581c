// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE elementwise
#include <boost/test/unit_test.hpp>

#include <sinter/expr/layers/elementwise.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/parameter.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr auto swish = elementwise([](scalar x) { return x / (1.f + exp(-x)); });
constexpr auto blend = elementwise([](scalar a, scalar b) {
    return maximum(a, b) * tanh(a) - sqrt(minimum(b, 0.5f) * minimum(b, 0.5f) + 1.f) / 2.f + greater(a, 0.f) * log(a * a + 1.f) + erf(-b);
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
