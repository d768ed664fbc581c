// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE matmul
#include <boost/test/unit_test.hpp>

#include <sinter/expr/name.hpp>
#include <sinter/ops/matmul.hpp>

#include "support/einsum.hpp"
#include "support/products.hpp"

using namespace sinter;
using namespace sinter::test;

template <class Case>
void check() {
    check_op<Case, programs::fused_only>();
}

/// Rows, what is summed over, columns.
constexpr int M = shape_source(0).few(), K = shape_source(1).columns(20), N = shape_source(2).columns(33),
              S = shape_source(3).few();

BOOST_AUTO_TEST_CASE(weights_on_the_right) {   // without a batch, on the right
    check_op<product_of<batch_of(7), packed(extents(7, 5))>>();
    check_op<product_of<batch_of(M, K), packed(extents(K, N))>>();
    check<product_of<batch_of(1), packed(extents(1, 1))>>();
    check<product_of<extents(N, S), packed(extents(S, 1))>>();
}
BOOST_AUTO_TEST_CASE(plain_matrix_on_the_right) {
    check_op<product_of<batch_of(K), extents(K, S)>>();
    check<product_of<batch_of(M, S, 4), extents(5, 4), false, true>>();
}

/// As NumPy: a vector is a row on the left, a column on the right.
template <shape A, shape B, compiler::text Rule, bool TA = false, bool TB = false>
struct vector_of {
    static constexpr shape operands[] = {A, B};
    static constexpr tensor apply(tensor a, tensor b) {
        return matmul(a, b, TA ? transposed::yes : transposed::no, TB ? transposed::yes : transposed::no);
    }
    static doubles reference(const doubles& a, const doubles& b) { return plain_einsum(Rule.c, {a, b}); }
};
BOOST_AUTO_TEST_CASE(vectors) {
    check<vector_of<batch_of(2, 3, 5), extents(5), "Ztij,j->Zti">>();
    check<vector_of<batch_of(5, 3), batch_of(5), "Zji,Zj->Zi", true>>();
    check<vector_of<extents(5), batch_of(2, 3, 5), "j,Ztij->Zti", false, true>>();
    check<vector_of<batch_of(5), extents(5), "Zi,i->Z">>();
    check<vector_of<batch_of(2, 3, 5), batch_of(5), "Ztij,Zj->Zti">>();   // the vector stretches over the leading axis
    check<vector_of<batch_of(5), batch_of(2, 5, 3), "Zj,Ztji->Zti">>();
}
