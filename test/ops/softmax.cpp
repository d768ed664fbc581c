// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE softmax
#include <boost/test/unit_test.hpp>

#include <sinter/ops/softmax.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

doubles softmax_reference(const doubles& a) {
    doubles y = a;
    const int n = a.d.back();
    for (int r = 0; r < a.size(); r += n) {
        double largest = -INFINITY, all = 0;
        for (int i = r; i < r + n; ++i) largest = std::max(largest, a[i]);
        for (int i = r; i < r + n; ++i) all += y[i] = std::exp(a[i] - largest);
        for (int i = r; i < r + n; ++i) y[i] /= all;
    }
    return y;
}
template <shape A>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::softmax(a); }
    static doubles reference(const doubles& a) { return softmax_reference(a); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<drawn_batch(0, 2)>>();
    check_op<op_of<batch_of(1)>, programs::fused_only>();
    check_op<op_of<drawn(1, 3)>, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(huge_logits) {
    const op_result r = run_op<op_of<extents(2, 3)>>({doubles({2, 3}, {3e38, 3e38, -3e38, 500, 400, 500})});
    check_close(r.y, doubles({6}, {0.5, 0.5, 0, 0.5, 0, 0.5}), 1e-6, "value");
    check_close(r.gradients[0], doubles({6}), 1e-6, "gradient");
}
