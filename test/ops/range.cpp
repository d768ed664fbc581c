// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE range
#include <boost/test/unit_test.hpp>

#include <sinter/ops/range.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr shape operands[] = {batch_of(2, 5)};
    static constexpr tensor apply(tensor a) { return a * ops::range(a, 5, 1, -0.25f) + ops::range(a, 5); }
    static doubles reference(const doubles& a) {
        doubles y(a.d);
        for (int n = 0; n < y.size(); ++n) y[n] = a[n] * (1 - n % 5 * 0.25) + n % 5;
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<op_of, programs::fused_only>(); }
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(3), fault_kind::axis_out_of_range, [](tensor x) { return ops::range(x, 0); }));
}
