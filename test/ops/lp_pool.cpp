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
        return map(pooled(x, K, O, 0, [](double& y, double v) { y += std::pow(std::abs(v), P); }),
                   [](double s) { return std::pow(s, 1. / P); });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 4, 3), 2, per_axis(2, 3), window{.stride = 2, .padding = padding::valid}>,
             programs::fused_only>();
    check_op<op_of<batch_of(7, 2), 3, 3, window{.stride = 2, .padding = padding::valid, .rounding = rounding::ceil}>,
             programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(of_volumes) {
    check_op<op_of<batch_of(3, 2, 3, 2), 1, 2, window{.stride = 2}>, programs::fused_only>();
}

/// As PyTorch has it: a window of zeros has no gradient; the others d sqrt(3^2 + 4^2) = 0.6, 0.8 and its like.
template <int P>
struct with_zeros {
    static constexpr shape operands[] = {extents(20, 1)};
    static constexpr tensor apply(tensor x) { return ops::lp_pool(x, P, 2, {.stride = 2, .padding = padding::valid}); }
};
BOOST_AUTO_TEST_CASE(windows_of_zeros) {
    const doubles x({20, 1}, {0, 0, 3, 4, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 3, 4, 0, 0});
    const op_result two = run_op<with_zeros<2>>({x}), three = run_op<with_zeros<3>>({x});
    for (std::size_t i = 0; i < 20; ++i) {
        const std::size_t pair = i / 2 * 2;
        const double a = x.v[pair], b = x.v[pair + 1], y2 = std::hypot(a, b), y3 = std::cbrt(a * a * a + b * b * b),
            e = x.v[i];
        BOOST_TEST(std::abs(static_cast<double>(two.gradients[0][i]) - (y2 > 0 ? e / y2 : 0)) < 1e-6);
        BOOST_TEST(std::abs(static_cast<double>(three.gradients[0][i]) - (y3 > 0 ? e * e / (y3 * y3) : 0)) < 2e-6);
    }
}
