// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE reverse
#include <boost/test/unit_test.hpp>

#include <sinter/ops/reverse.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int... Axes>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return reverse(a, {Axes...}); }
    static doubles reference(const doubles& a) {
        return moved(a.d, a, [&](places at) {
            for (int axis : {Axes...}) {
                if (axis < 0) axis += A.rank;
                int& i = at[axis + A.batched];
                i = a.d[axis + A.batched] - 1 - i;
            }
            return at;
        });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<drawn_batch(0, 3), 0, -1>, programs::fused_only>();
    check_op<op_of<extents(3, 4, 2), 1>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return reverse(x, {1}); }));
}
