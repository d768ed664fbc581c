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

/// Rows, what is summed over, columns; products an example.
constexpr int M = shape_source(0).columns(9), K = shape_source(1).few(), N = shape_source(2).columns(17),
    L = shape_source(3).one_of({1, 2, 3});

BOOST_AUTO_TEST_CASE(transposed_or_not) {
    check_op<product_of<batch_of(M, 4), batch_of(4, N)>>();
    check<product_of<batch_of(K, M), batch_of(K, 5), true, false>>();
    check<product_of<batch_of(3, K), batch_of(N, K), false, true>>();
    check<product_of<batch_of(4, 3), batch_of(5, 4), true, true>>();
}
BOOST_AUTO_TEST_CASE(leading_axes_are_broadcast) {
    check<product_of<batch_of(2, 3, K), batch_of(1, K, 5)>>();
    check<product_of<batch_of(L, M, 4), extents(L, 4, 5)>>();
    check<product_of<extents(3, K), batch_of(K, 1)>>();
    check<product_of<extents(4, 1), packed(extents(4, 3)), true>>();
}
