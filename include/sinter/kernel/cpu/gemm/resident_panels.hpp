// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/packing_tile.hpp>
#include <sinter/kernel/cpu/gemm/product_limits.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/tile_of_height.hpp>

/// Transposed products whose right operand stays in the second-level cache, all of it. Tiles follow
/// each other, each passes by all panels, which the first one copies, and copies its own rows for
/// the first of them. Meanwhile the next tile's rows are prefetched: so memory is read all the
/// time, and not for the share of it in which something is copied.
namespace sinter::inline SINTER_TARGET::cpu {

/// Of so much depth a tile's rows stay in the first-level cache.
inline constexpr std::int64_t kept_depth = 512;

/// Are the panels of these tiles whole, do they stay there, and for more than one tile?
constexpr bool keeps_panels(const product& q, const tile_range& r) {
    return q.b_layout == right::rows && q.columns % panel_width == 0 && q.rows >= small_tile_rows &&
           q.depth <= kept_depth && r.end_tile - r.first_tile > 1 &&
           (r.end_panel - r.first_panel) * panel_width * q.depth <= copied_floats;
}

/// The tiles of `r`, of a product whose q.row_step is 1. `column_sums`, if there: of the right
/// operand, by whoever has the first tile.
template <class = void>
__attribute__((noinline)) inline void run_resident_panels(const product& q, const epilogue& f, const call& c,
                                                          const tile_range& r, float* column_sums) {
    static_assert(tile_rows <= floats_a_line);   // a tile's row lies in two lines at most
    alignas(64) float kept[copied_floats];
    alignas(64) float copied[tile_rows * kept_depth + lanes];
    alignas(64) float sums[tile_rows * panel_width];
    const row_cover cover(q.rows);
    const bool prefetches_epilogue = f.prefetch && q.rows * q.columns > near_floats,
               by_lines = f.list && !f.direct && prefetches_by_lines(q, f);
    const bool prefetched =
        prefetches_pieces && r.end_panel - r.first_panel > 2;   // for both lines, by the tile before
    const std::int64_t x_ahead = prefetched ? 0 : copied_ahead, piece = rows_of_piece(q.depth);
    for (std::int64_t i = r.first_tile; i < r.end_tile; ++i) {
        const int height = cover.height(i);
        const bool large = height == tile_rows, more = i + 1 < r.end_tile;
        const float* const x = q.a + cover.first_row(i);
        for (std::int64_t p = r.first_panel; p < r.end_panel; ++p) {
            const std::int64_t j0 = p * panel_width, k = p - r.first_panel;
            float* const panel = kept + k * panel_width * q.depth;
            finished done = panel_results(q, j0, panel_width, panel_width);
            place_tile(done, q, cover, i, sums, done.off);
            tile_lines lines;   // that the body will touch, where they are prefetched one by one
            const bool lists =
                by_lines && i > r.first_tile && k > 0 && !(more && k <= 2) && f.lists(done, c, q.depth, lines);
            if (prefetches_epilogue && !lists) f.prefetch(done, c);
            if (i == r.first_tile) {
                const float* const b = q.b + j0;
                const std::int64_t n = q.depth, ahead = copied_ahead;
                if (k)
                    packing_tile_of<false, true>(height)(no_sum, sums, copied, height, b, q.b_step, n, copied, panel,
                                                         ahead, ahead);
                else
                    packing_tile_of<true, true>(height)(no_sum, sums, x, q.sum_step, b, q.b_step, n, copied, panel,
                                                        ahead, ahead);
                for (std::int64_t t = 0; column_sums && i == 0 && t < n; t += piece) {   // in the order of run_packing
                    const std::int64_t rows = n - t < piece ? n - t : piece;
                    sum_panel(panel + t * panel_width, panel_width, panel_width, rows, column_sums + j0, t == 0);
                }
            } else if (k == 0) {
                packing_tile_of<true, false>(height)(no_sum, sums, x, q.sum_step, panel, panel_width, q.depth, copied,
                                                     panel, x_ahead, 0);
            } else if (more && k <= 2) {   // a line of each of the next tile's rows, then the other one
                const prefetch_stream next{k == 1 ? x + height : x + 2 * height - 1, q.sum_step};
                ahead_of<false>(large)(no_sum, sums, copied, 1, height, panel, panel_width, q.depth, next);
            } else if (large && f.direct) {
                f.direct(no_sum, copied, 1, height, panel, panel_width, q.depth, done, c);
                continue;
            } else if (lists) {
                line_prefetching_tile_of(height)(no_sum, sums, copied, 1, height, panel, panel_width, q.depth, lines);
            } else {
                tile_of<2>(height)(no_sum, sums, copied, 1, height, panel, panel_width, q.depth, 1);
            }
            f.finish(done, c);
        }
    }
}

} // namespace sinter::cpu
