// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv/sparse_pixels.hpp>
#include <sinter/kernel/cpu/conv/window_panels.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_forward's operands and body, skipping what is zero of the inputs where that is much; else
/// by `Dense`. The lists of a pixel that comes in are made once for all windows that it is in, and
/// for all channels that go out.
template <class Dense, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct sparse_forward {
    static constexpr int phases = 1, taps = KH * KW, depth = taps * CI;
    static constexpr std::int64_t group = sparse_pixels::group;
    static constexpr bool pays =
        CI % mask_bits == 0 && CO % group == 0 && OW <= 256 && OH * OW >= sparse_pixels::least_rows;

    /// Rows of windows at a time, and the rows of pixels that these touch.
    static constexpr int out_rows = std::clamp(std::min(256 / OW, ((1 << 18) / (W * CI) - KH) / S + 1), 1, OH);
    static constexpr int in_rows = std::min(H, (out_rows - 1) * S + KH);
    static constexpr std::int64_t list_floats = round_up(row_lists::floats(in_rows * W, CI), 16);
    static constexpr std::int64_t sum_floats = out_rows * OW * group, which_floats = round_up(taps * out_rows * OW, 16);
    static constexpr std::int64_t floats = list_floats + sum_floats + which_floats;
    static constexpr std::int64_t scratch(int parts) { return Dense::scratch(parts) + parts * floats; }
    static void finish(const call&) {}

    static void run(const call& c) {
        const std::int64_t first = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        constexpr std::int64_t pixels = std::int64_t{H} * W;
        if (first == end) return;
        if (non_zero_share(c.p[conv_operand::source] + first * pixels * CI, (end - first) * pixels, CI, CI) >
            sparse_list_share(CO / group))
            return Dense::run(c);
        float* const workspace = c.scratch + Dense::scratch(c.parts) + first_part(c) * floats;
        for (std::int64_t image = first; image < end; ++image)
            for (int oy = 0; oy < OH; oy += out_rows) block(image, oy, std::min(oy + out_rows, OH), workspace, c);
    }

private:
    static void block(std::int64_t image, int first, int last, float* workspace, const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        const int top = std::max(0, first * S - PT), bottom = std::max(top, std::min(H, (last - 1) * S - PT + KH));
        const float* const x = c.p[conv_operand::source] + (image * H + top) * W * CI;
        const row_lists lists(workspace, std::int64_t{bottom - top} * W, CI);
        make_lists(lists, x, false);
        auto* const which = reinterpret_cast<std::int32_t*>(workspace + list_floats + sum_floats);
        find_pixels(first, last, top, bottom, which);
        const std::int64_t rows = std::int64_t{last - first} * OW, row = (image * OH + first) * OW;
        bool finite = true;
        for (int j = 0; j < CO; j += static_cast<int>(group)) {
            const product q{nullptr, 0, 0, c.p[conv_operand::weights] + std::int64_t{j} * depth, 0, right::panels,
                            rows, group, depth, false, row * CO + j, row, CO, j};
            const auto multiply = [&] {
                return sparse_pixels::run_columns(q, f, c, lists, {which, CI / mask_bits}, workspace + list_floats,
                                                  j + group < CO ? group * depth : 0, finite);
            };
            if (multiply()) continue;
            make_lists(lists, x, true);   // zero times infinity is NaN
            finite = false;
            multiply();
        }
    }
    static void make_lists(const row_lists& lists, const float* x, bool all) {
        for (std::int64_t i = 0; i < lists.rows; ++i)
            for (int k = 0; k < CI; k += mask_bits) lists.make(k / mask_bits, i, x + i * CI + k, mask_bits, all);
    }
    /// Of each tap and each window of rows [first, last): which of the pixels from row `top` on it
    /// meets; -1: none.
    static void find_pixels(int first, int last, int top, int bottom, std::int32_t* which) {
        for (int t = 0; t < taps; ++t)
            for (int oy = first; oy < last; ++oy)
                for (int ox = 0; ox < OW; ++ox) {
                    const int y = oy * S + t / KW - PT, x = ox * S + t % KW - PL;
                    *which++ = y >= top && y < bottom && x >= 0 && x < W ? (y - top) * W + x : -1;
                }
    }
};

} // namespace sinter::cpu
