// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE linear_scan
#include <boost/test/unit_test.hpp>

#include <sinter/ops/linear_scan.hpp>
#include <sinter/ops/map_fn.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int Axis, bool Reverse>
struct op_of {
    static constexpr shape operands[] = {A, A};
    static constexpr tensor apply(tensor a, tensor c) { return linear_scan(a, c, Axis, Reverse); }
    static doubles reference(const doubles& a, const doubles& c) {
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        doubles y = a;
        for (int k = 1; k < a.d[axis]; ++k)
            for (int n = 0; n < a.size(); ++n) {
                places at = a.where(n);
                if (at[axis] != (Reverse ? a.d[axis] - 1 - k : k)) continue;
                at[axis] += Reverse ? 1 : -1;
                y[n] += c[n] * y.at(at);
            }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3), 0, false>>();
    check_op<op_of<batch_of(2, 5), -1, true>, programs::fused_only>();
    check_op<op_of<batch_of(1, 3), 0, true>, programs::fused_only>();
    // more lines than lanes, more elements than lanes
    check_op<op_of<batch_of(9, 21), -1, false>, programs::fused_only>();
    check_op<op_of<batch_of(7, 11, 3), 1, true>, programs::fused_only>();
}
/// A running mean: one coefficient for all.
struct running_mean {
    static constexpr shape operands[] = {extents(4)};
    static constexpr tensor apply(tensor a) { return linear_scan(a * 0.5f, fill(a, extents(), 0.5f)); }
};
BOOST_AUTO_TEST_CASE(one_coefficient) {
    const op_result r = run_op<running_mean>({doubles({4}, {2, 4, 0, 8})});
    BOOST_TEST(r.y == (std::vector<float>{1, 2.5, 1.25, 4.625}), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[0] == (std::vector<float>{0.9375, 0.875, 0.75, 0.5}), boost::test_tools::per_element());
}

/// What a loop has computed lies step by step.
struct of_a_loop {
    static constexpr shape operands[] = {batch_of(3, 2), extents(2)};
    static constexpr tensor apply(tensor a, tensor c) {
        return linear_scan(map_fn([](tensor s) { return s * 2.f; }, a), c, 0);
    }
    static doubles reference(const doubles& a, const doubles& c) {
        doubles y(a.d);
        for (int i = 0; i < a.size(); ++i) y[i] = 2 * a[i] + (i % 6 < 2 ? 0 : c[i % 2] * y[i - 2]);
        return y;
    }
};
BOOST_AUTO_TEST_CASE(of_what_a_loop_computed) { check_op<of_a_loop, programs::fused_only>(); }
