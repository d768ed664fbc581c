// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE matmul_batched
#include <boost/test/unit_test.hpp>

#include <sinter/ops/matmul.hpp>

#include "support/products.hpp"

using namespace sinter;
using namespace sinter::test;

template <class Case>
void check() {
    check_op<Case, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(transposed_or_not) {
    check_op<product_of<batch_of(3, 4), batch_of(4, 17)>>();
    check<product_of<batch_of(4, 3), batch_of(4, 5), true, false>>();
    check<product_of<batch_of(3, 4), batch_of(5, 4), false, true>>();
    check<product_of<batch_of(4, 3), batch_of(5, 4), true, true>>();
}
BOOST_AUTO_TEST_CASE(leading_axes_are_broadcast) {
    check<product_of<batch_of(2, 3, 4), batch_of(1, 4, 5)>>();
    check<product_of<batch_of(2, 3, 4), extents(2, 4, 5)>>();
    check<product_of<extents(3, 4), batch_of(4, 1)>>();
    check<product_of<extents(4, 1), packed(extents(4, 3)), true>>();
}
