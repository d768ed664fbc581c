// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE logical_and
#include <boost/test/unit_test.hpp>

#include <sinter/ops/logical_and.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr tensor apply(tensor a, tensor b) { return ops::logical_and(a, b); }
    static double value(double x, double y) { return x != 0 && y != 0; }
};
BOOST_AUTO_TEST_CASE(one_or_zero) {
    const op_result r = at_places<op_of>({1., 2., 0., 0., -0., infinity, no_number}, {-1., 0., 3., 0., 0., 0.5, 0.});
    check_same(r.y, {1, 0, 0, 0, 0, 1, 0});
    check_same(r.gradients[0], {0, 0, 0, 0, 0, 0, 0});
    check_same(r.gradients[1], {0, 0, 0, 0, 0, 0, 0});
}
BOOST_AUTO_TEST_CASE(broadcast) { check_op<binary_case<op_of, batch_of(3, 5), extents(5)>, programs::fused_only>(); }
