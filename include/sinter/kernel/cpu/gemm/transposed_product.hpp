// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/resident_panels.hpp>
#include <sinter/kernel/cpu/gemm/run_packing.hpp>

/// Products whose left operand lies transposed, [depth][rows], as gradients of weights have it.
/// Where the sums are long, a tile's few floats of each of its rows cost a line each, and rows that
/// are a power of two apart share few places in the caches: so both operands are copied, the left
/// one for some tiles at a time, the right one panel by panel (run_packing.hpp); or, where all
/// panels stay in cache, the other way round (resident_panels.hpp).
namespace sinter::inline SINTER_TARGET::cpu {

/// How a product's tiles are split into parts: `down` shares of rows times `across` shares of
/// panels.
struct part_grid {
    int down, across;
    /// The one that copies the least: each share of rows copies the panels, each share of panels
    /// the rows.
    constexpr part_grid(std::int64_t tiles, std::int64_t panels, int parts) : down(1), across(parts) {
        std::int64_t least = -1;
        for (int d = 1; d <= parts; ++d) {
            if (parts % d) continue;
            const std::int64_t rows = (tiles + d - 1) / d, wide = (panels + parts / d - 1) / (parts / d);
            const std::int64_t cost = rows * wide * 3 * tile_rows + 2 * rows + 4 * wide;   // the longest part's
            if (least >= 0 && cost >= least) continue;
            least = cost;
            down = d;
            across = parts / d;
        }
    }
};

/// The parts [part, end) of a product whose q.row_step is 1. What they share they copy together, as
/// far as they are whole columns of the grid.
template <class = void>
inline void run_transposed_product(const product& q, const epilogue& f, const call& c, int part, int end, int parts,
                                   float* column_sums = nullptr) {
    const std::int64_t tiles = row_cover(q.rows).count, panels = (q.columns + panel_width - 1) / panel_width;
    const part_grid grid(tiles, panels, parts);
    for (int next; part < end; part = next) {
        const int across = part / grid.down, down = part % grid.down, whole = down ? 0 : (end - part) / grid.down;
        const int column = (across + 1) * grid.down;
        next = whole ? part + whole * grid.down : end < column ? end : column;
        const std::int64_t first_panel = share(panels, across, grid.across);
        const std::int64_t end_panel = share(panels, across + (whole ? whole : 1), grid.across);
        const std::int64_t first = share(tiles, down, grid.down),
                           last = whole ? tiles : share(tiles, down + next - part, grid.down);
        const tile_range range{first, last, first_panel, end_panel};
        (keeps_panels(q, range) ? run_resident_panels<> : run_packing<>)(q, f, c, range, column_sums);
    }
}

} // namespace sinter::cpu
