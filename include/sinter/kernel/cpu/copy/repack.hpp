// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/gemm/transposed_panel.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

/// Kernels that only move data.
namespace sinter::inline SINTER_TARGET::cpu {

/// Packed [K][N] to packed [N][K], padding zeroed: the weights that dX multiplies by. The source is
/// read from front to back, the pieces of a large result lie far apart; both are prefetched two
/// iterations ahead, as no page holds more. A result that no cache holds until it is read goes past
/// them, its lines by halves that are joined.
struct transpose_panels {
    static constexpr bool only_divides = true;
    static constexpr std::int64_t near = 4096,
                                  far = 1 << 22;   ///< floats that are in the first-level cache anyway, or in none
    static void run(const call& c) {
        const std::int64_t K = c.e[transpose_extent::rows], N = c.e[transpose_extent::columns];
        const std::int64_t panels = (K + panel_width - 1) / panel_width;
        if (c.part != first_part(c)) return;   // a thread's parts at once: the source from front to back
        const std::int64_t begin = share(panels, c.part, c.parts), end = thread_end(c, panels);
        const bool non_temporal = joins_halves && K * N >= far;
        for (std::int64_t j0 = 0; j0 < N; j0 += panel_width) {           // panels of the source
            const int v = panel_columns(N, j0 / panel_width, panel_width, lanes);
            const std::int64_t there = N - j0 < v ? N - j0 : v;
            for (std::int64_t p = begin; p < end; ++p) {                 // panels of the result
                const std::int64_t k0 = p * panel_width;
                const int w = panel_columns(K, p, panel_width, lanes);
                float* to = c.p[copy_operand::to] + k0 * N + j0 * w;
                if (K * N > near && !non_temporal && p + 2 < end && (p + 3) * panel_width <= K)   // a whole panel
                    for (int i = 0; i < w * v; i += 16) __builtin_prefetch(to + 2 * panel_width * N + i, 1);
                const float* const from = c.p[copy_operand::from] + j0 * K + k0 * v;
                if (w == panel_width && v == panel_width && there == v && K - k0 >= w) {
                    for (int i = 0; K * N > near && i < w * v; i += floats_a_line)
                        __builtin_prefetch(from + 2 * w * v + i);
                    if (non_temporal) transpose_square_non_temporal(from, to);
                    else transpose_square(from, to);
                    continue;
                }
                transpose_piece(from, v, K - k0, there, to, w);
            }
        }
        if (non_temporal) lines_are_stored();
    }
};

/// [c.m][R][C] to [c.m][C][R], row-major.
struct transpose {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const std::int64_t R = c.e[transpose_extent::rows], C = c.e[transpose_extent::columns];
        const std::int64_t strips = (C + lanes - 1) / lanes;
        const std::int64_t end = share(c.m * strips, c.part + 1, c.parts);
        for (std::int64_t s = share(c.m * strips, c.part, c.parts); s < end; ++s) {
            const std::int64_t j = s % strips * lanes, b = s / strips * R * C;
            transpose_matrix(c.p[copy_operand::from] + b + j, C, R, C - j < lanes ? C - j : lanes,
                             c.p[copy_operand::to] + b + j * R, R, true);
        }
    }
};

template <class Body, int... X>
struct nest<op::weight_transpose, Body, X...> { using type = transpose_panels; };

} // namespace sinter::cpu
