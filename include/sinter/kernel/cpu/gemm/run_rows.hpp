// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/row_cover.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// to = the sums of one row by P whole panels. A single panel's two chains of multiply-adds would
/// wait for each other, and one stream of weights for memory.
template <int P>
__attribute__((noinline)) void multiply_row(float* to, const float* x, std::int64_t sum_step, const float* b,
                                            std::int64_t panel_step, std::int64_t n) {
    vf s[std::size_t{2 * P}];
    unroll<2 * P>([&](int i) SINTER_ALWAYS { s[i] = zero(); });
    do {
        const vf a = splat(*x);
        unroll<2 * P>([&](int i) SINTER_ALWAYS { s[i] = fma(a, load(b + i / 2 * panel_step + i % 2 * lanes), s[i]); });
        x += sum_step;
        b += panel_width;
    } while (--n > 0);
    unroll<2 * P>([&](int i) SINTER_ALWAYS { store(to + i * lanes, s[i]); });
}

/// Fewer rows than the smallest tile has (prediction for one example): one after the other, each by
/// as many panels at once as registers can sum. The parts share the panels, which are packed ones.
/// Every element is summed as a tile does it.
template <class = void>
__attribute__((noinline)) inline void run_rows(const product& q, const epilogue& f, const call& c, int part,
                                               int parts) {
    constexpr int at_once = 4;
    alignas(64) float sums[at_once * panel_width];
    const std::int64_t panels = (q.columns + panel_width - 1) / panel_width, panel_step = q.depth * panel_width;
    const bool narrow = panel_columns(q.columns, panels - 1, panel_width, lanes) < panel_width;   // the last one
    const std::int64_t off_step = q.result_step ? q.result_step : q.columns, end = share(panels, part + 1, parts);
    for (std::int64_t p = share(panels, part, parts), n = 1; p < end; p += n) {
        const std::int64_t wide = (narrow && end == panels ? end - 1 : end) - p, j0 = p * panel_width;
        n = wide >= at_once ? at_once : wide >= 2 ? 2 : 1;
        const int width = wide ? static_cast<int>(n) * panel_width : lanes;
        const int there = static_cast<int>(q.columns - j0 < width ? q.columns - j0 : width);
        const float* b = q.b + p * panel_step;
        for (std::int64_t i = 0; i < q.rows; ++i) {
            const float* x = q.a + i * q.row_step;
            if (n == at_once) multiply_row<at_once>(sums, x, q.sum_step, b, panel_step, q.depth);
            else if (n == 2) multiply_row<2>(sums, x, q.sum_step, b, panel_step, q.depth);
            else if (wide) multiply_row<1>(sums, x, q.sum_step, b, panel_step, q.depth);
            else multiply_tile<1, 1>(no_sum, sums, x, 0, q.sum_step, b, lanes, q.depth, 1);
            f.finish(
                {sums, 1, there, width, q.off + i * off_step + j0, off_step, q.row + i, q.col + static_cast<int>(j0)},
                c);
        }
    }
}

} // namespace sinter::cpu
