// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE roll
#include <boost/test/unit_test.hpp>

#include <sinter/ops/roll.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

template <shape A, int Shift, int Axis>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return roll(a * a, Shift, Axis); }
    static doubles reference(const doubles& a) {
        const int axis = (Axis < 0 ? Axis + A.rank : Axis) + A.batched, n = a.d[axis];
        doubles y = moved(a.d, a, [&](places at) {
            at[axis] = ((at[axis] - Shift) % n + n) % n;
            return at;
        });
        return map(y, [](double v) { return v * v; });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 3), 2, 0>>();
    check_op<op_of<drawn_batch(0, 3), -1, 1>, programs::fused_only>();
    check_op<op_of<extents(2, 9), 13, -1>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(once_around_is_nothing) {
    graph g;
    const tensor x = make<op::input>(&g, batch_of(4), {}, {0});
    BOOST_TEST(roll(x, 8).id == x.id);
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return roll(x, 1, 1); }));
}
