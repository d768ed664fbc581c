// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/packing_tile.hpp>
#include <sinter/kernel/cpu/gemm/gather_panel.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/tile_of_height.hpp>

/// The loops of transposed products that copy both operands. A piece of either is copied by the
/// first tile that reads it, as far as whole vectors allow.
namespace sinter::inline SINTER_TARGET::cpu {

/// Shorter sums are taken from where their operands lie.
inline constexpr std::int64_t least_copied_depth = 96;

/// Rows [t, t + n) of tile i, as [n][its height].
__attribute__((noinline)) inline void copy_tile(const product& q, const row_cover& cover, std::int64_t i,
                                                std::int64_t t, std::int64_t n, float* to) {
    const int height = cover.height(i);
    const float* from = q.a + t * q.sum_step + cover.first_row(i);
    for (; n > 0; --n, from += q.sum_step, to += height)
        for (int j = 0; j < height; j += lanes)   // what is too much is written over
            store(to + j, height - j < lanes ? load(from + j, height - j) : load(from + j));
}

/// How these loops walk over a share: in groups of tiles whose copied rows stay in the second-level
/// cache while panels pass by; where sums go on in the next piece of the depth, in blocks of
/// panels, too, so that they stay there.
struct packing_walk {
    static constexpr std::int64_t tile_floats = tile_rows * panel_width;
    std::int64_t rows;             ///< of a piece of the depth
    bool carries;                  ///< sums from piece to piece
    bool prefetches_epilogue, prefetches;   ///< what the body will touch; what the next piece or block reads
    bool by_lines;   ///< what the body will touch line by line: many at once, from memory, would be waited for
    std::int64_t step;             ///< from a tile's copied rows to the next one's
    std::int64_t tiles, panels;    ///< of a group, of a block
    std::int64_t prefetched_ahead;   ///< floats from a tile's results to those that are prefetched with it

    packing_walk(const product& q, const epilogue& f, const tile_range& r)
        : rows(rows_of_piece(q.depth)), carries(rows < q.depth),
          prefetches_epilogue(f.prefetch && q.rows * q.columns > near_floats),
          prefetches(prefetches_pieces && q.b_layout == right::rows),
          by_lines(prefetches_epilogue && f.list && !prefetches && prefetches_by_lines(q, f)),
          step(round_up(tile_rows * rows + lanes, 16)),
          // Of a large result and short sums the lines of the tiles to come, which follow, as the
          // rows' groups are alike.
          prefetched_ahead(q.packed_result && q.depth < least_copied_depth && prefetches_result(q, f)
                               ? prefetched_tiles * tile_floats
                               : 0) {
        const std::int64_t all = r.end_tile - r.first_tile, most = copied_floats / step;
        tiles = prefetches_pieces || prefetched_ahead ? groups_alike(all, most) : most;
        panels = r.end_panel - r.first_panel;
        if (!carries) return;
        const std::int64_t most_panels = continued_floats / tile_floats / tiles;
        panels = prefetches_pieces ? groups_alike(panels, most_panels) : most_panels;
    }
};

/// A group of tiles by a block of panels over a piece of the depth, [t, t + n).
struct packing_piece {
    std::int64_t first_tile, tiles, first_panel, end_panel, t, n;
    bool first, last;         ///< of all; of its block
    row_lines
        next_left;   ///< what is copied for the next piece, or the next block's first one, and is prefetched meanwhile
    row_lines next_right;     ///< of its first panel

    packing_piece(const product& q, const row_cover& cover, const packing_walk& walk, const tile_range& block,
                  const tile_range& next_block, std::int64_t depth_begin, bool is_first)
        : first_tile(block.first_tile), tiles(block.end_tile - block.first_tile), first_panel(block.first_panel),
          end_panel(block.end_panel), t(depth_begin), n(q.depth - t < walk.rows ? q.depth - t : walk.rows),
          first(is_first), last(t + n == q.depth) {
        const tile_range& next = last ? next_block : block;
        const std::int64_t top = cover.begin(next.first_tile), t_next = last ? 0 : t + n, left = q.depth - t_next;
        const std::int64_t bottom = next.end_tile < cover.count ? cover.begin(next.end_tile) : q.rows;
        const std::int64_t rows = left < walk.rows ? left : walk.rows;
        const bool more = next.end_tile > next.first_tile;
        next_left = {q.a + t_next * q.sum_step + top, q.sum_step, rows,
                     more ? (bottom - top + floats_a_line - 1) / floats_a_line : 0};
        next_right = {q.b + t_next * q.b_step + next.first_panel * panel_width + end_of_line, q.b_step, rows,
                      more ? panel_lines : 0};
    }
    /// What the group's tiles prefetch while they pass by panel p, whose rows lie at b. The first
    /// tile and the first panel copy. `few`: as few tiles as can, for the others are finished in
    /// registers.
    panel_prefetches prefetches(const product& q, std::int64_t p, const float* b, bool few) const {
        const std::int64_t i = p - first_panel - 1, all = end_panel - first_panel - 1,
                           begin = next_left.lines * i / all;
        const row_lines right =
            p + 1 < end_panel ? row_lines{b + panel_width + end_of_line, q.b_step, n, panel_lines} : next_right;
        const row_lines left{next_left.at + begin * floats_a_line, next_left.step, next_left.rows,
                             next_left.lines * (i + 1) / all - begin};
        const std::int64_t least = right.lines + left.lines;
        return {right, left, few && least < tiles ? least : tiles - 1, n};
    }

private:
    static constexpr std::int64_t panel_lines = (panel_width + floats_a_line - 1) / floats_a_line;
};

/// Memory of these loops: a panel's piece, the copied rows of a group, and sums that go on.
struct packing_memory {
    float *panel, *rows, *sums;
};

/// A piece's tiles by its panel p.
template <class = void>
SINTER_INLINE void multiply_panel(const product& q, const epilogue& f, const call& c, const row_cover& cover,
                                  const packing_walk& walk, const packing_piece& piece, const packing_memory& m,
                                  std::int64_t p, float* column_sums) {
    const std::int64_t j0 = p * panel_width, t = piece.t, n = piece.n;
    const int w = panel_columns(q.columns, p, panel_width, lanes);
    const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
    const bool last = piece.last, new_tile = p == piece.first_panel;
    finished done = panel_results(q, j0, w, there);
    const std::int64_t panel_off = done.off;
    const direct_function direct = done.columns == panel_width ? f.direct : nullptr;
    const bool in_place = q.b_layout == right::rows && there == panel_width && cover.height(piece.first_tile) > 1;
    const float* const b = q.b + t * q.b_step + j0;
    if (!in_place) gather_panel(q, j0, w, t, n, m.panel);
    // By the tiles of the panel before, or, for a piece's first panel, by those of the piece
    // before.
    const bool piece_prefetched = walk.prefetches && !piece.first && piece.end_panel - piece.first_panel > 1;
    const bool panel_prefetched = new_tile ? piece_prefetched : walk.prefetches && p > piece.first_panel + 1;
    const std::int64_t x_ahead = piece_prefetched ? 0 : copied_ahead, b_ahead = panel_prefetched ? 0 : copied_ahead;
    panel_prefetches prefetches =
        walk.prefetches && !new_tile ? piece.prefetches(q, p, b, last && direct) : panel_prefetches{};
    for (std::int64_t k = 0; k < piece.tiles; ++k) {
        const std::int64_t i = piece.first_tile + k;
        const int height = cover.height(i);
        float* const to = m.sums + (walk.carries ? (p - piece.first_panel) * walk.tiles + k : 0) * walk.tile_floats;
        float* const x = m.rows + k * walk.step;
        const float *const from = t ? to : no_sum, *const a = q.a + t * q.sum_step + cover.first_row(i);
        place_tile(done, q, cover, i, to, panel_off);
        const bool new_panel = in_place && k == 0, whole = w == panel_width && height > 1;
        tile_lines lines;
        const bool lists =
            last && walk.by_lines && whole && !new_tile && !new_panel && !direct && f.lists(done, c, n, lines);
        if (last && walk.prefetches_epilogue && !lists) {
            done.off += walk.prefetched_ahead;
            f.prefetch(done, c);
            done.off -= walk.prefetched_ahead;
        }
        if (whole && (new_tile || new_panel)) {
            if (!new_panel)
                packing_tile_of<true, false>(height)(from, to, a, q.sum_step, m.panel, w, n, x, m.panel, x_ahead,
                                                     b_ahead);
            else if (!new_tile)
                packing_tile_of<false, true>(height)(from, to, x, height, b, q.b_step, n, x, m.panel, x_ahead, b_ahead);
            else
                packing_tile_of<true, true>(height)(from, to, a, q.sum_step, b, q.b_step, n, x, m.panel, x_ahead,
                                                    b_ahead);
        } else {
            if (new_tile) copy_tile(q, cover, i, t, n, x);
            const prefetched_rows prefetched =
                walk.prefetches && whole && k > 0 && !new_tile ? prefetches.next() : prefetched_rows{};
            if (prefetched.step) {
                (height == tile_rows
                     ? prefetching_tile_of<tile_rows>
                     : prefetching_tile_of<small_tile_rows>)(prefetched)(from, to, x, m.panel, n, prefetched);
            } else if (last && height == tile_rows && direct) {
                direct(from, x, 1, height, m.panel, w, n, done, c);
                continue;
            } else if (lists) {
                line_prefetching_tile_of(height)(from, to, x, 1, height, m.panel, w, n, lines);
            } else {
                (w == panel_width ? tile_of<2>(height) : tile_of<1>(height))(from, to, x, 1, height, m.panel, w, n, 1);
            }
        }
        if (last) f.finish(done, c);
    }
    if (column_sums && piece.first_tile == 0) sum_panel(m.panel, w, there, n, column_sums + j0, t == 0);
}

/// The tiles of `r`, of a product whose q.row_step is 1. `column_sums`, if there: of the right
/// operand, by whoever has the first tile.
template <class = void>
__attribute__((noinline)) inline void run_packing(const product& q, const epilogue& f, const call& c,
                                                  const tile_range& r, float* column_sums) {
    if (r.first_tile >= r.end_tile || r.first_panel >= r.end_panel) return;
    alignas(64) float panel[most_copied_rows * panel_width];
    alignas(64) float copied[copied_floats];
    alignas(64) float continued[continued_floats];
    const row_cover cover(q.rows);
    const packing_walk walk(q, f, r);
    const auto block_at = [&](std::int64_t tile, std::int64_t p) {
        return tile_range{tile, r.end_tile - tile < walk.tiles ? r.end_tile : tile + walk.tiles, p,
                          r.end_panel - p < walk.panels ? r.end_panel : p + walk.panels};
    };
    tile_range block = block_at(r.first_tile, r.first_panel);
    for (bool begins = true; block.first_tile < r.end_tile; begins = false) {
        const tile_range next = block.end_panel < r.end_panel ? block_at(block.first_tile, block.end_panel)
                                                              : block_at(block.end_tile, r.first_panel);
        for (std::int64_t t = 0; t < q.depth; t += walk.rows) {
            const packing_piece piece(q, cover, walk, block, next, t, begins && t == 0);
            for (std::int64_t p = block.first_panel; p < block.end_panel; ++p)
                multiply_panel(q, f, c, cover, walk, piece, {panel, copied, continued}, p, column_sums);
        }
        block = next;
    }
}

} // namespace sinter::cpu
