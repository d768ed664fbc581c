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
template <int Number, window O>
void check_drawn() {
    constexpr drawn_window d(Number, O);
    check_op<op_of<d.image(), d.square(), O>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 6, 3), 2, by_two_valid>>();
    check_op<op_of<batch_of(3, 2, 17), 3, by_two>, programs::fused_only>();   // windows that hang over count what they hold
    check_drawn<1, by_two>();
    check_drawn<2, valid>();
    check_drawn<3, window{}>();
}
