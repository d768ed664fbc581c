// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE matmul
#include <boost/test/unit_test.hpp>

#include <sinter/ops/matmul.hpp>

#include "support/products.hpp"

using namespace sinter;
using namespace sinter::test;

template <class Case>
void check() {
    check_op<Case, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(weights_on_the_right) {   // without a batch, on the right
    check_op<product_of<batch_of(7), packed(extents(7, 5))>>();
    check_op<product_of<batch_of(3, 20), packed(extents(20, 33))>>();
    check<product_of<batch_of(1), packed(extents(1, 1))>>();
    check<product_of<extents(3, 2), packed(extents(2, 17))>>();
}
BOOST_AUTO_TEST_CASE(plain_matrix_on_the_right) {
    check_op<product_of<batch_of(7), extents(7, 5)>>();
    check<product_of<batch_of(2, 3, 4), extents(5, 4), false, true>>();
}
