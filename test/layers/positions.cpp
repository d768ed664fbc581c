// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE positions
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/positions.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(learned_and_computed) {
    check_net<programs::fused_only>(array<3, 4> >> positional_encoding >> position_embedding,
                                    [](const auto& p, const auto& x) {
        doubles y = x[0];
        for (int i = 0; i < y.size(); ++i) {
            const int t = i / 4 % 3, j = i % 4;
            const double angle = t / std::pow(10'000., j / 2 * 2 / 4.);
            y[i] += (j % 2 ? std::cos(angle) : std::sin(angle)) + p[0][i % 12];
        }
        return std::vector{y};
    });
}
