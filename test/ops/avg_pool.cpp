// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE avg_pool
#include <boost/test/unit_test.hpp>

#include <sinter/ops/avg_pool.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape X, int K, window O>
struct op_of {
    static constexpr shape operands[] = {X};
    static constexpr tensor apply(tensor x) { return ops::avg_pool(x, K, O); }
    static doubles reference(const doubles& x) { return mean_pooled(x, K, O); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 6, 3), 2, by_two_valid>>();
    check_op<op_of<batch_of(5, 4, 17), 3, by_two>, programs::fused_only>();   // windows that hang over count what they hold
    check_op<op_of<batch_of(4, 3, 1), 3, window{}>, programs::fused_only>();
    check_op<op_of<batch_of(3, 3, 2), 3, valid>, programs::fused_only>();
}
