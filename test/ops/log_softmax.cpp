// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE log_softmax
#include <boost/test/unit_test.hpp>

#include <sinter/ops/log_softmax.hpp>

#include "fixtures/pytorch_ops.hpp"
#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::log_softmax(a); }
    static doubles reference(const doubles& a) {
        doubles y = a;
        const int n = a.d.back();
        for (int r = 0; r < a.size(); r += n) {
            double all = 0;
            for (int i = r; i < r + n; ++i) all += std::exp(a[i]);
            for (int i = r; i < r + n; ++i) y[i] -= std::log(all);
        }
        return y;
    }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<drawn_batch(0, 2)>>();
    check_op<op_of<batch_of(1)>, programs::fused_only>();
    check_op<op_of<drawn(1, 3)>, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(huge_logits) {   // softmax itself would be 0 or 1, and its logarithm infinite
    const op_result r = run_op<op_of<extents(2, 3)>>({doubles({2, 3}, {1000, 0, -1000, 3e4, 3e4, -3e4})});
    check_close(r.y, doubles({6}, {0, -1000, -2000, -std::log(2.), -std::log(2.), -6e4 - std::log(2.)}), 1e-6, "value");
    check_close(r.gradients[0], doubles({6}, {-2, 1, 1, -0.5, -0.5, 1}), 1e-6, "gradient");
}

struct weighted : op_of<extents(4, 5)> {
    static constexpr shape operands[] = {extents(4, 5), extents(4, 5)};
    static constexpr tensor apply(tensor x, tensor dy) { return ops::log_softmax(x) * stop_gradient(dy); }
};
BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch;
    auto list = [](const double (&x)[20]) { return doubles({4, 5}, std::vector<double>(x, x + 20)); };
    const op_result r = run_op<weighted>({list(p::log_softmax_x), list(p::log_softmax_dy)});
    check_close(r.gradients[0], list(p::log_softmax_dx), 1e-6, "gradient");
    check_close(run_op<op_of<extents(4, 5)>>({list(p::log_softmax_x)}).y, list(p::log_softmax_y), 1e-6, "value");
}
