// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE permute
#include <boost/test/unit_test.hpp>

#include <sinter/ops/permute.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int... Axes>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return permute(a * a, {Axes...}); }
    static doubles reference(const doubles& a) {
        const std::vector<int> axes{Axes...};
        std::vector<int> order;   // of all axes, the batch first
        if (A.batched) order.push_back(0);
        for (int i : axes) order.push_back(i + A.batched);
        std::vector<int> d;
        for (int i : order) d.push_back(a.d[static_cast<std::size_t>(i)]);
        doubles y(d);
        for (int n = 0; n < a.size(); ++n) {
            const auto from = a.where(n);
            std::vector<int> to;
            for (int i : order) to.push_back(from[static_cast<std::size_t>(i)]);
            y.at(to) = a[n] * a[n];
        }
        return y;
    }
};
struct swapped : op_of<batch_of(2, 3, 5), 0, 2, 1> {
    static constexpr tensor apply(tensor a) { return transpose(a * a); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<drawn_batch(0, 2), 1, 0>>();
    check_op<op_of<drawn_batch(2, 3), 2, 0, 1>, programs::fused_only>();   // its gradient's order is another one
    check_op<op_of<drawn(1, 4), 3, 1, 0, 2>, programs::fused_only>();
    check_op<op_of<drawn_batch(3, 5), 4, 2, 3, 1, 0>, programs::fused_only>();
    check_op<op_of<batch_of(2, 3), 0, 1>, programs::fused_only>();
    check_op<swapped, programs::fused_only>();
}
