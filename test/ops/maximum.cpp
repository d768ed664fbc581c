// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE maximum
#include <boost/test/unit_test.hpp>

#include <sinter/ops/maximum.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -2, high = 2;
    static constexpr tensor apply(tensor a, tensor b) { return ops::maximum(a, b); }
    static double value(double x, double y) { return x > y ? x : y; }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary<op_of>(); }

BOOST_AUTO_TEST_CASE(ties_share_the_gradient) {
    const op_result r = at_places<op_of>({2., 1., 4., infinity}, {1., 2., 4., -infinity});
    check_same(r.y, {2, 2, 4, infinity});
    check_same(r.gradients[0], {1, 0, 0.5, 1});
    check_same(r.gradients[1], {0, 1, 0.5, 0});
}

BOOST_AUTO_TEST_CASE(nan_passes) {
    const op_result r = at_places<op_of>({no_number, 3., no_number, 4.}, {3., no_number, no_number, 4.});
    check_same(r.y, {no_number, no_number, no_number, 4});
    check_same(r.gradients[0], {1, 1, 1, 0.5});
    check_same(r.gradients[1], {1, 1, 1, 0.5});
}

struct with_number {
    static constexpr tensor apply(tensor a) { return ops::maximum(a, 0.25f); }
    static double value(double a) { return op_of::value(a, 0.25); }
};
BOOST_AUTO_TEST_CASE(numbers) { check_op<unary_case<with_number, extents(5, 3)>, programs::fused_only>(); }
