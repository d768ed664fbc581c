// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE depth_to_space
#include <boost/test/unit_test.hpp>

#include <sinter/ops/depth_to_space.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr shape operands[] = {batch_of(2, 3, 8)};
    static constexpr tensor apply(tensor a) { return depth_to_space(a, 2); }
    static doubles reference(const doubles& a) {
        return moved({a.d[0], 4, 6, 2}, a, [](const places& at) {
            return places{at[0], at[1] / 2, at[2] / 2, (at[1] % 2 * 2 + at[2] % 2) * 2 + at[3]};
        });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<op_of, programs::fused_only>(); }
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(2, 2, 6), fault_kind::needs_height_width_channels,
                       [](tensor x) { return depth_to_space(x, 2); }));
}
