// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE pow
#include <boost/test/unit_test.hpp>

#include <sinter/ops/pow.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 0.3, high = 2;
    static constexpr tensor apply(tensor a, tensor b) { return ops::pow(a, b); }
    static double value(double x, double y) { return std::pow(x, y); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary_light<op_of>(); }
BOOST_AUTO_TEST_CASE(edges) {
    const double inf = infinity, nan = no_number;
    const double a[] = {0., 0., 0., -0., -2., -2., -2., 1., nan, inf, inf, -inf, -inf, 0.5, 0.5, -1., 2., 2., 3.};
    const double b[] = {0., 2., -1., -1., 3., 2., 0.5, nan, 0., 2., -2., 3., -3., inf, -inf, inf, 128., -160., 1.};
    const op_result r = at_places_light<op_of>(a, b);
    check_same(r.y, {1, 0, inf, -inf, -8, 4, nan, 1, 1, inf, 0, -inf, 0, 0, inf, 1, inf, 0, 3});
    BOOST_TEST((r.gradients[0][0] == 0 && r.gradients[0][1] == 0 && r.gradients[1][1] == 0 && r.gradients[0][5] == -4));
}

struct with_numbers {
    static constexpr double low = 0.3, high = 2;
    static constexpr tensor apply(tensor a) {
        return ops::pow(a, 1.f) + ops::pow(a, 2.f) * ops::pow(a, 3.f) - ops::pow(a, -1.5f) + ops::pow(2.f, a) +
            ops::pow(a, 0.f);
    }
    static double value(double x) { return x + std::pow(x, 5) - std::pow(x, -1.5) + std::pow(2, x) + 1; }
};
BOOST_AUTO_TEST_CASE(numbers) { check_unary_light<with_numbers>(); }
