// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE dot
#include <boost/test/unit_test.hpp>

#include <sinter/ops/dot.hpp>

#include "support/check_op.hpp"
#include "support/einsum.hpp"

using namespace sinter;
using namespace sinter::test;

struct vectors {
    static constexpr shape operands[] = {batch_of(3, 5), extents(5)};
    static constexpr tensor apply(tensor a, tensor b) { return dot(a, b); }
    static doubles reference(const doubles& a, const doubles& b) { return plain_einsum("Zti,i->Zt", {a, b}); }
};
struct rows {
    static constexpr shape operands[] = {batch_of(2, 1, 17), batch_of(3, 17)};
    static constexpr tensor apply(tensor a, tensor b) { return dot(reshape_to_three(b), a); }
    static constexpr tensor reshape_to_three(tensor b) { return ops::reshape(b, extents(1, 3, 17)); }
    static doubles reference(const doubles& a, const doubles& b) { return plain_einsum("Zioj,Zkj->Zik", {a, b}); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<vectors>();
    check_op<rows, programs::fused_only>();
}
