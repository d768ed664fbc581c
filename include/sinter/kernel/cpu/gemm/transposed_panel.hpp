// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/tile.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/panels.hpp>

/// Pieces of packed weights, transposed.
namespace sinter::inline SINTER_TARGET::cpu {

/// to = the transpose of `from`, both [panel_width][panel_width] within panels: all distances are
/// constants. `NonTemporal`: whole lines are written that nobody reads soon.
template <bool NonTemporal = false>
__attribute__((noinline)) inline void transpose_square(const float* from, float* to) {
    for (int i = 0; i < panel_width; i += lanes)
        for (int j = 0; j < panel_width; j += lanes) {
            vf r[lanes];
            load_transposed<panel_width>(r, from + i * panel_width + j);
            unroll<lanes>([&](int k)
                              SINTER_ALWAYS { store_or_stream<NonTemporal>(to + (j + k) * panel_width + i, r[k]); });
        }
}

/// The same by non-temporal stores where halves of a line must follow each other: by way of a
/// square in the first-level cache.
template <class = void>
inline void transpose_square_non_temporal(const float* from, float* to) {
    alignas(64) float square[panel_width * panel_width];
    transpose_square(from, square);
    for (int i = 0; i < panel_width * panel_width; i += lanes) store_half_lines(to + i, load(square + i));
}

/// Of `lanes` rows, which are padded, the first columns: no more than these are transposed.
template <class = void>
__attribute__((noinline)) inline void transpose_rows(const float* from, std::int64_t step, std::int64_t columns,
                                                     float* to, std::int64_t to_step) {
    for (std::int64_t j = 0; j < columns; j += 4) {
        vf four[4];
        load_four_columns(four, from + j, step);
        unroll<4>([&](int i) SINTER_ALWAYS {
            if (j + i < columns) store(to + (j + i) * to_step, four[i]);
        });
    }
}
/// to[j * width + i] = from[i * step + j] for all i < width, j < columns; of the rows i there are
/// so many, the others are zero.
template <class = void>
inline void transpose_piece(const float* from, std::int64_t step, std::int64_t rows, std::int64_t columns, float* to,
                            int width) {
    for (int i = 0; i < width; i += lanes)
        if (rows - i >= lanes) transpose_rows(from + i * step, step, columns, to + i, width);
        else transpose_matrix(from + i * step, step, rows - i, columns, to + i, width, false);
}

/// Of the transpose of packed weights [K][N]: rows [n, n + rows) of the panel of `width` columns
/// from k on, as [rows][width] in the first-level cache; zeros where the weights end. n is a
/// multiple of panel_width. What lies in weights one behind the other is a square's row, and
/// squares side by side are far apart, so the next ones are prefetched, line by line.
template <class = void>
__attribute__((noinline)) inline void gather_transposed_panel(const float* w, std::int64_t K, std::int64_t N,
                                                              std::int64_t k, int width, std::int64_t n,
                                                              std::int64_t rows, float* to) {
    constexpr std::int64_t ahead =
        (lanes >= 16 ? 2 : 4) * panel_width;   // squares of the source are 4 kilobytes, or one
    const std::int64_t there = K - k < width ? K - k : width;
    for (const std::int64_t end = n + rows; n < end; n += panel_width, to += panel_width * width) {
        const int from_width = panel_columns(N, n / panel_width, panel_width, lanes);
        const float* from = w + n * K + k * from_width;
        if (n + ahead + panel_width <= N)
            for (int i = 0; i < width * panel_width; i += floats_a_line) __builtin_prefetch(from + ahead * K + i);
        const std::int64_t left = end - n < from_width ? end - n : from_width;
        if (there == panel_width && left == panel_width) {
            transpose_square(from, to);
            continue;
        }
        transpose_piece(from, from_width, there, left, to, width);
    }
}

} // namespace sinter::cpu
