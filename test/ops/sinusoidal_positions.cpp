// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sinusoidal_positions
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/ops/add.hpp>
#include <sinter/ops/sinusoidal_positions.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr int T = 5, D = 6;
doubles table_of(position_pairs p, double base) {   // the paper's two lines
    doubles y({T, D});
    for (int t = 0; t < T; ++t)
        for (int i = 0; i < D / 2; ++i) {
            const double angle = t / std::pow(base, 2. * i / D);
            y[t * D + (p == position_pairs::neighbours ? 2 * i : i)] = std::sin(angle);
            y[t * D + (p == position_pairs::neighbours ? 2 * i + 1 : i + D / 2)] = std::cos(angle);
        }
    return y;
}
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    constexpr auto add = [](tensor x) {
        const tensor w = parameter(x, "w", extents(T, D), ones);
        const tensor halves = sinusoidal_positions(x, T, D, position_pairs::halves, 100);
        return outputs((x + sinusoidal_positions(x, T, D)) * w, x * halves * w);
    };
    check_net<programs::fused_only>(array<T, D> >> add, [](const auto& p, const auto& x) {
        auto times = [](double a, double b) { return a * b; };
        const doubles a = map(x[0], table_of(position_pairs::neighbours, 10'000),
                              [](double s, double t) { return s + t; });
        return std::vector{map(a, p[0], times),
                           map(map(x[0], table_of(position_pairs::halves, 100), times), p[0], times)};
    });
}
