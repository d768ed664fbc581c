// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE outer
#include <boost/test/unit_test.hpp>

#include <sinter/expr/name.hpp>
#include <sinter/ops/outer.hpp>

#include "support/check_op.hpp"
#include "support/einsum.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, shape B, compiler::text Rule>
struct op_of {
    static constexpr shape operands[] = {A, B};
    static constexpr tensor apply(tensor a, tensor b) { return outer(a, b); }
    static doubles reference(const doubles& a, const doubles& b) { return plain_einsum(Rule.c, {a, b}); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(3), batch_of(5), "Zi,Zj->Zij">>();
    check_op<op_of<batch_of(2, 17), extents(2, 3), "Zti,tj->Ztij">, programs::fused_only>();
}
