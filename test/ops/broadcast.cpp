// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE broadcast
#include <boost/test/unit_test.hpp>

#include <sinter/ops/broadcast.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct product {
    static constexpr tensor apply(tensor a, tensor b) { return a * b + a; }
    static double value(double x, double y) { return x * y + x; }
};
/// All under [3, 2, 5] of each example: what is shared with it, from the outside in, is marked.
template <shape A, shape B = batch_of(3, 2, 5), programs Which = programs::fused_only>
void check() {
    check_op<binary_case<product, A, B>, Which>();
}

BOOST_AUTO_TEST_CASE(trailing_axes) {
    check<extents(5)>();
    check<extents(2, 5)>();
    check<extents(3, 2, 5)>();
}
BOOST_AUTO_TEST_CASE(leading_axes) {
    check<batch_of(1, 1, 1)>();
    check<batch_of(3, 1, 1)>();
    check<batch_of(3, 2, 1), batch_of(3, 2, 5), programs::all>();
    check<batch_of(3, 1, 5)>();
}
BOOST_AUTO_TEST_CASE(in_the_middle) {   // neither: the operand is spelled out first
    check<extents(3, 1, 5), batch_of(3, 2, 5), programs::all>();
    check<batch_of(1, 2, 1)>();
    check<extents(3, 1, 1)>();
}
