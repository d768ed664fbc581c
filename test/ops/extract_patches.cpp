// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE extract_patches
#include <boost/test/unit_test.hpp>

#include <sinter/ops/extract_patches.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int KH, int KW, int Stride, int Rate, bool Same>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) {
        return extract_patches(a, {KH, KW},
                               {.stride = Stride, .padding = Same ? padding::same : padding::valid, .dilation = Rate});
    }
    static doubles reference(const doubles& a) {
        const auto axis = [](int n, int k, int& before) {
            const int wide = (k - 1) * Rate + 1;
            before = 0;
            if (!Same) return (n - wide) / Stride + 1;
            const int out = (n + Stride - 1) / Stride;
            before = std::max(0, ((out - 1) * Stride + wide - n) / 2);
            return out;
        };
        int above, left;
        const int h = axis(A.d[0], KH, above), w = axis(A.d[1], KW, left), c = A.d[2];
        return moved({a.d[0], h, w, KH * KW * c}, a, [&](const places& at) {
            const int tap = at[3] / c, y = at[1] * Stride + tap / KW * Rate - above,
                x = at[2] * Stride + tap % KW * Rate - left;
            return y >= 0 && x >= 0 && y < A.d[0] && x < A.d[1] ? places{at[0], y, x, at[3] % c} : nowhere;
        });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 5, 2), 3, 2, 1, 1, true>>();
    check_op<op_of<batch_of(6, 5, 1), 2, 3, 2, 2, true>, programs::fused_only>();
    check_op<op_of<batch_of(5, 6, 3), 2, 2, 3, 1, false>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4, 4), fault_kind::needs_height_width_channels,
                       [](tensor x) { return extract_patches(x, 2); }));
    BOOST_TEST(refuses(batch_of(4, 4, 1), fault_kind::window_out_of_range,
                       [](tensor x) { return extract_patches(x, {0, 2}); }));
    BOOST_TEST(refuses(batch_of(4, 4, 1), fault_kind::window_larger_than_input,
                       [](tensor x) { return extract_patches(x, 3, {.padding = padding::valid, .dilation = 2}); }));
}
