// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/tile.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/panels.hpp>

/// Pieces of packed weights, transposed.
namespace sinter::cpu {

/// to = the transpose of `from`, both [panel_width][panel_width] within panels: all distances are constants. `PastCaches`: whole lines
/// are written that nobody reads soon.
template <bool PastCaches = false>
__attribute__((noinline)) inline void transpose_square(const float* from, float* to) {
    for (int i = 0; i < panel_width; i += lanes)
        for (int j = 0; j < panel_width; j += lanes) {
            vf r[lanes];
            load_transposed<panel_width>(r, from + i * panel_width + j);
            unroll<lanes>([&](int k) SINTER_ALWAYS { store_near_or_far<PastCaches>(to + (j + k) * panel_width + i, r[k]); });
        }
}

/// Of the transpose of packed weights [K][N]: rows [n, n + rows) of the panel of `width` columns from k on, as [rows][width] in the
/// first-level cache; zeros where the weights end. n is a multiple of panel_width. What lies in weights one behind the other is
/// a square's row, and squares side by side are far apart, so the next ones are asked for.
template <class = void>
__attribute__((noinline)) inline void gather_turned_panel(const float* w, std::int64_t K, std::int64_t N, std::int64_t k, int width,
                                                          std::int64_t n, std::int64_t rows, float* to) {
    constexpr std::int64_t ahead = 4 * panel_width;   // rows of the result: a square of each source panel is a kilobyte
    const std::int64_t there = K - k < width ? K - k : width;
    for (const std::int64_t end = n + rows; n < end; n += panel_width, to += panel_width * width) {
        const int from_width = panel_columns(N, n / panel_width, panel_width, lanes);
        const float* from = w + n * K + k * from_width;
        if (n + ahead + panel_width <= N)
            for (int i = 0; i < width; ++i) __builtin_prefetch(from + ahead * K + i * panel_width);
        const std::int64_t left = end - n < from_width ? end - n : from_width;
        if (there == panel_width && left == panel_width) {
            transpose_square(from, to);
            continue;
        }
        if (there < width)
            for (std::int64_t i = 0; i < left * width; i += lanes) store(to + i, zero());
        transpose_matrix(from, from_width, there, left, to, width, there < width);
    }
}

} // namespace sinter::cpu
