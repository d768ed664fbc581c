// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE lp_pool
#include <boost/test/unit_test.hpp>

#include <sinter/ops/lp_pool.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape X, int P, per_axis K, window O>
struct op_of {
    static constexpr shape operands[] = {X};
    static constexpr double low = 0.2, high = 1;   // near 0 central differences see the corner
    static constexpr tensor apply(tensor x) { return ops::lp_pool(-x, P, K, O); }
    static doubles reference(const doubles& x) {
        return map(pooled(x, K, O, 0, [](double& y, double v) { y += std::pow(std::abs(v), P); }), [](double s) { return std::pow(s, 1. / P); });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 4, 3), 2, per_axis(2, 3), window{.stride = 2, .padding = padding::valid}>, programs::fused_only>();
    check_op<op_of<batch_of(7, 2), 3, 3, window{.stride = 2, .padding = padding::valid, .rounding = rounding::ceil}>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(of_volumes) { check_op<op_of<batch_of(3, 2, 3, 2), 1, 2, window{.stride = 2}>, programs::fused_only>(); }
