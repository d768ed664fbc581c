// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// So small, or of so few terms, that what is around its tiles would take as long as a quarter of
/// their sums: a body has tiles of its own for these. The right operand lies in L1, panels are
/// whole, and nothing is prefetched.
constexpr bool is_small_product(const product& q) {
    return q.rows >= small_tile_rows && q.columns % panel_width == 0 && q.depth * q.columns <= near_floats &&
           (q.rows * q.columns <= near_floats || q.depth < short_sum);
}
/// The panels [panel, end) of such a product, where the body has small tiles of its own alone.
template <class = void>
__attribute__((noinline)) inline void run_small_tiles(const product& q, const epilogue& f, const call& c,
                                                      std::int64_t panel, std::int64_t end) {
    alignas(64) float sums[small_tile_rows * panel_width];
    const bool panels = q.b_layout == right::panels;
    const std::int64_t off_step = q.packed_result ? panel_width : q.result_step ? q.result_step : q.columns;
    const std::int64_t tiles = q.rows / small_tile_rows, begin = tiles * small_tile_rows,
                       last = q.rows - small_tile_rows;
    for (std::int64_t p = panel; p < end; ++p) {
        const std::int64_t j0 = p * panel_width, b_step = panels ? panel_width : q.b_step;
        const std::int64_t off = q.off + (q.packed_result ? j0 * q.rows : j0);
        const float* b = q.b + (panels ? j0 * q.depth : j0);
        finished done{nullptr, small_tile_rows, panel_width, panel_width,
                      off,     off_step,        q.row,       q.col + static_cast<int>(j0)};
        f.small(q.a, q.row_step, q.sum_step, b, b_step, q.depth, tiles, done, c);
        if (begin == q.rows) continue;
        multiply_tile<small_tile_rows, 2>(no_sum, sums, q.a + last * q.row_step, q.row_step, q.sum_step, b, b_step,
                                          q.depth, 1);
        done.sums = sums + (begin - last) * panel_width;
        done.rows = static_cast<int>(q.rows - begin);
        done.off = off + begin * off_step;
        done.row = q.row + begin;
        f.finish(done, c);
    }
}
/// The tiles [tile, end) of such a product, numbered as by run_tiles. The right operand lies in
/// panels, or in rows of whole vectors.
template <class = void>
__attribute__((noinline)) inline void run_small_product(const product& q, const epilogue& f, const call& c,
                                                        std::int64_t tile, std::int64_t end) {
    alignas(64) float sums[finished_rows * panel_width];
    const row_cover cover(q.rows);
    const bool panels = q.b_layout == right::panels;
    const std::int64_t off_step = q.packed_result ? panel_width : q.result_step ? q.result_step : q.columns;
    if (f.small && !f.large) {   // a panel is its part's whose range has its first tile
        const auto panel_from = [&](std::int64_t t) { return (t + cover.count - 1) / cover.count; };
        return run_small_tiles(q, f, c, panel_from(tile), panel_from(end));
    }
    for (std::int64_t p = tile ? tile / cover.count : 0, first = tile - p * cover.count; tile < end; ++p, first = 0) {
        const std::int64_t j0 = p * panel_width, left = end - tile,
                           n = cover.count - first < left ? cover.count - first : left;
        const finished done{nullptr, 0, panel_width, panel_width, 0, off_step, 0, q.col + static_cast<int>(j0)};
        run_near_tiles(q, done, f, c, cover, first, first + n, q.b + (panels ? j0 * q.depth : j0),
                       panels ? panel_width : q.b_step, q.off + (q.packed_result ? j0 * q.rows : j0), sums);
        tile += n;
    }
}

} // namespace sinter::cpu
