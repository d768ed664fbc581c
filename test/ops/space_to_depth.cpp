// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE space_to_depth
#include <boost/test/unit_test.hpp>

#include <sinter/ops/space_to_depth.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <int B>
struct op_of {
    static constexpr shape operands[] = {batch_of(2 * B, 3 * B, 2)};
    static constexpr tensor apply(tensor a) { return space_to_depth(a, B); }
    static doubles reference(const doubles& a) {
        return moved({a.d[0], 2, 3, B * B * 2}, a, [](const places& at) {
            const int block = at[3] / 2;
            return places{at[0], at[1] * B + block / B, at[2] * B + block % B, at[3] % 2};
        });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<op_of<2>, programs::fused_only>(); }
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4, 3, 1), fault_kind::needs_height_width_channels,
                       [](tensor x) { return space_to_depth(x, 2); }));
}
