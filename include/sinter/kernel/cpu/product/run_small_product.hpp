// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/run_tiles.hpp>

namespace sinter::cpu {

/// So small, or of so few terms, that what is around its tiles would take as long as a quarter of their sums: a body has tiles of its own
/// for these. The right operand lies in L1, panels are whole, and nothing is asked for.
constexpr bool is_small_product(const product& q) {
    return q.rows >= small_tile_rows && q.columns % panel_width == 0 && q.depth * q.columns <= near_floats &&
           (q.rows * q.columns <= near_floats || q.depth < short_sum);
}
/// The tiles [tile, end) of such a product, numbered as by run_tiles. The right operand lies in panels, or in rows of whole vectors.
template <class = void>
__attribute__((noinline)) inline void run_small_product(const product& q, const finisher& f, const call& c, std::int64_t tile,
                                                        std::int64_t end) {
    alignas(64) float sums[finished_rows * panel_width];
    const row_cover cover(q.rows);
    const bool panels = q.b_layout == right::panels;
    const std::int64_t off_step = q.packed_result ? panel_width : q.result_step ? q.result_step : q.columns;
    for (std::int64_t p = tile ? tile / cover.count : 0, first = tile - p * cover.count; tile < end; ++p, first = 0) {
        const std::int64_t j0 = p * panel_width, left = end - tile, n = cover.count - first < left ? cover.count - first : left;
        const finished done{nullptr, 0, panel_width, panel_width, 0, off_step, 0, q.col + static_cast<int>(j0)};
        run_near_tiles(q, done, f, c, cover, first, first + n, q.b + (panels ? j0 * q.depth : j0), panels ? panel_width : q.b_step,
                       q.off + (q.packed_result ? j0 * q.rows : j0), sums);
        tile += n;
    }
}

} // namespace sinter::cpu
