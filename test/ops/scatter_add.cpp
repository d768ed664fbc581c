// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE scatter_add
#include <boost/test/unit_test.hpp>

#include <sinter/ops/argmax.hpp>
#include <sinter/ops/scatter_add.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr shape whole(shape s) {
    s.type = dtype::i32;
    return s;
}
template <shape A, shape U, int Axis>
struct op_of {
    static constexpr shape operands[] = {whole(U), A, U};
    static constexpr double low = -1, high = A.d[Axis];
    static constexpr tensor apply(tensor i, tensor a, tensor u) { return scatter_add(a, i, u * u, Axis); }
    static doubles reference(const doubles& i, const doubles& a, const doubles& u) {
        doubles y = a;
        for (int n = 0; n < u.size(); ++n) {
            places at = u.where(n);
            at[Axis + A.batched] = static_cast<int>(i[n]);
            y.at(at) += u[n] * u[n];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3), batch_of(6, 3), 0>>();
    check_op<op_of<batch_of(2, 5), batch_of(2, 3), 1>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4, 3), fault_kind::shapes_not_broadcastable,
                       [](tensor x) { return scatter_add(x, argmax(x, 0, keep::yes), x, 0); }));
}
