// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>

/// The weights' gradient of a layer of few inputs, fewer than the smallest tile has rows. One by
/// one their sums would wait for themselves, so they go in tiles of four, the last of which may
/// begin earlier. Every element is summed as a tile does it.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr int few_rows = 4;
constexpr bool has_few_rows(const product& q) { return q.rows >= few_rows && q.rows < small_tile_rows; }

/// The tiles [tile, end), numbered as by run_tiles, of a packed result, where the right operand
/// lies in rows.
template <class = void>
__attribute__((noinline)) inline void run_few_rows(const product& q, const epilogue& f, const call& c,
                                                   std::int64_t tile, std::int64_t end) {
    alignas(64) float sums[few_rows * panel_width];
    const panel_groups groups(q, tile, end, 1);
    if (groups.first > tile) run_tiles(q, f, c, tile, groups.first);
    for (std::int64_t j = groups.column; j < groups.end_column; j += panel_width)
        for (std::int64_t begin = 0; begin < q.rows; begin += few_rows) {
            const std::int64_t row = begin + few_rows <= q.rows ? begin : q.rows - few_rows;
            multiply_tile<few_rows, 2>(no_sum, sums, q.a + row * q.row_step, q.row_step, q.sum_step, q.b + j, q.b_step,
                                       q.depth, 1);
            f.finish({sums + (begin - row) * panel_width, static_cast<int>(row + few_rows - begin), panel_width,
                      panel_width, q.off + j * q.rows + begin * panel_width, panel_width, q.row + begin,
                      q.col + static_cast<int>(j)},
                     c);
        }
    if (groups.end < end) run_tiles(q, f, c, groups.end, end);
}

} // namespace sinter::cpu
