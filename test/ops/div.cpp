// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE div
#include <boost/test/unit_test.hpp>

#include <sinter/ops/div.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 0.5, high = 2;
    static constexpr tensor apply(tensor a, tensor b) { return a / b; }
    static double value(double x, double y) { return x / y; }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary<op_of>(); }

struct by_number {
    static constexpr tensor apply(tensor a) { return 2.f / (a / 0.25f); }
    static double value(double x) { return 0.5 / x; }
};
struct positive : by_number {
    static constexpr double low = 0.5, high = 2;
};
BOOST_AUTO_TEST_CASE(numbers) { check_op<unary_case<positive, extents(5, 3)>, programs::fused_only>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places<op_of>({1., -1., 0., 1.}, {0., 0., 0., infinity});
    check_same(r.y, {infinity, -infinity, no_number, 0});
    check_same(r.gradients[0], {infinity, infinity, infinity, 0});
}
