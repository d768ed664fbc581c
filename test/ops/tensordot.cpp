// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE tensordot
#include <boost/test/unit_test.hpp>

#include <sinter/expr/name.hpp>
#include <sinter/ops/tensordot.hpp>

#include "support/check_op.hpp"
#include "support/einsum.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, shape B, int N, compiler::text Rule>
struct op_of {
    static constexpr shape operands[] = {A, B};
    static constexpr tensor apply(tensor a, tensor b) { return tensordot(a, b, N); }
    static doubles reference(const doubles& a, const doubles& b) { return plain_einsum(Rule.c, {a, b}); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(2, 3, 4), extents(3, 4, 2, 5), 2, "Ztij,ijkl->Ztkl">>();
    check_op<op_of<batch_of(3, 4), batch_of(4, 2), 1, "Zti,Zij->Ztj">, programs::fused_only>();
}
