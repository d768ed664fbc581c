// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE reshape
#include <boost/test/unit_test.hpp>

#include <sinter/layers/dense.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/input.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(flatten_and_back) {
    check_net(array<6, 5> >> dense<4, bias::no> >> flatten >> reshape<4, 6> >> reshape<24>,
              [](const auto& p, const auto& x) {
        doubles y({x[0].d[0], 24});
        for (int i = 0; i < y.size(); ++i)
            for (int k = 0; k < 5; ++k) y[i] += x[0][i / 4 * 5 + k] * p[0][k * 4 + i % 4];
        return std::vector{y};
    });
}
BOOST_AUTO_TEST_CASE(concatenation) {
    constexpr auto both = [](tensor a, tensor b) { return concat({a, b, a * b}); };
    check_net(inputs(features<3>, features<3>) >> both >> dense<2, bias::no>, [](const auto& p, const auto& x) {
        doubles y({x[0].d[0], 2});
        for (int n = 0; n < x[0].d[0]; ++n)
            for (int j = 0; j < 2; ++j)
                for (int k = 0; k < 3; ++k) {
                    const double a = x[0][3 * n + k], b = x[1][3 * n + k];
                    y[2 * n + j] += a * p[0][2 * k + j] + b * p[0][2 * (k + 3) + j] + a * b * p[0][2 * (k + 6) + j];
                }
        return std::vector{y};
    });
}
