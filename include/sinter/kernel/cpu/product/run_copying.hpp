// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/copying_tile.hpp>
#include <sinter/kernel/cpu/product/gather_panel.hpp>
#include <sinter/kernel/cpu/product/row_cover.hpp>
#include <sinter/kernel/cpu/product/tile_of_height.hpp>

/// The loops of transposed products that copy both operands. A piece of either is copied by the first tile that reads it, as far as
/// whole vectors allow.
namespace sinter::cpu {

/// Shorter sums are taken from where their operands lie.
inline constexpr std::int64_t least_copied_depth = 96;

/// Rows [t, t + n) of tile i, as [n][its height].
__attribute__((noinline)) inline void copy_tile(const product& q, const row_cover& cover, std::int64_t i, std::int64_t t, std::int64_t n,
                                                float* to) {
    const int height = cover.height(i);
    const float* from = q.a + t * q.sum_step + cover.first_row(i);
    for (; n > 0; --n, from += q.sum_step, to += height)
        for (int j = 0; j < height; j += lanes)   // what is too much is written over
            store(to + j, height - j < lanes ? load(from + j, height - j) : load(from + j));
}

/// How these loops walk over a share: in groups of tiles whose copied rows stay in the second-level cache while panels pass by; where
/// sums go on in the next piece of the depth, in blocks of panels, too, so that they stay there.
struct copying_walk {
    static constexpr std::int64_t tile_floats = tile_rows * panel_width;
    bool carries;                  ///< sums from piece to piece
    bool expects, asks;            ///< what the body will touch; what the next piece reads
    std::int64_t step;             ///< from a tile's copied rows to the next one's
    std::int64_t tiles, panels;    ///< of a group, of a block
    std::int64_t expected_ahead;   ///< floats from a tile's results to those that are asked for with it

    copying_walk(const product& q, const finisher& f, const tile_range& r)
        : carries(q.depth > copied_rows), expects(f.expect && q.rows * q.columns > near_floats),
          asks(asks_pieces && carries && q.b_layout == right::rows),
          step(round_up(tile_rows * (carries ? copied_rows : q.depth) + lanes, 16)),
          // Of a large result and short sums the lines of the tiles to come, which follow; then the rows' groups are alike.
          expected_ahead(q.packed_result && q.depth < least_copied_depth && lies_far(q, f) ? expected_tiles * tile_floats : 0) {
        const std::int64_t most = copied_floats / step, all = r.end_tile - r.first_tile, groups = (all + most - 1) / most;
        tiles = expected_ahead ? (all + groups - 1) / groups : most;
        panels = carries ? continued_floats / tile_floats / tiles : r.end_panel - r.first_panel;
    }
};

/// A group of tiles by a block of panels over a piece of the depth, [t, t + n).
struct copying_piece {
    std::int64_t first_tile, tiles, first_panel, end_panel, t, n;
    bool last;
    row_lines next;   ///< the left operand's of the next piece, which are asked for meanwhile

    copying_piece(const product& q, const row_cover& cover, const tile_range& block, std::int64_t depth_begin)
        : first_tile(block.first_tile), tiles(block.end_tile - block.first_tile), first_panel(block.first_panel),
          end_panel(block.end_panel), t(depth_begin), n(q.depth - t < copied_rows ? q.depth - t : copied_rows), last(t + n == q.depth) {
        const std::int64_t top = cover.begin(first_tile), t_next = t + n;
        const std::int64_t bottom = block.end_tile < cover.count ? cover.begin(block.end_tile) : q.rows;
        next = {q.a + t_next * q.sum_step + top, q.sum_step, q.depth - t_next < copied_rows ? q.depth - t_next : copied_rows,
                last ? 0 : (bottom - top + floats_a_line - 1) / floats_a_line};
    }
    /// What the group's tiles ask for while they pass by panel p, whose rows lie at b. The first tile and the first panel copy.
    panel_asks asks(const product& q, std::int64_t p, const float* b) const {
        constexpr std::int64_t panel_lines = (panel_width + floats_a_line - 1) / floats_a_line;
        const std::int64_t i = p - first_panel - 1, all = end_panel - first_panel - 1, begin = next.lines * i / all;
        const row_lines right = p + 1 < end_panel
            ? row_lines{b + panel_width, q.b_step, n, panel_lines}
            : row_lines{q.b + (t + n) * q.b_step + first_panel * panel_width, q.b_step, next.rows, last ? 0 : panel_lines};
        return {right, {next.at + begin * floats_a_line, next.step, next.rows, next.lines * (i + 1) / all - begin}, tiles - 1, n};
    }
};

/// Memory of these loops: a panel's piece, the copied rows of a group, and sums that go on.
struct copying_memory {
    float *panel, *rows, *sums;
};

/// A piece's tiles by its panel p.
template <class = void>
SINTER_INLINE void multiply_panel(const product& q, const finisher& f, const call& c, const row_cover& cover, const copying_walk& walk,
                                  const copying_piece& piece, const copying_memory& m, std::int64_t p, float* column_sums) {
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
    // By the tiles of the panel before (not those that store directly), or, for a piece's first panel, by those of the piece before.
    const bool piece_asked = walk.asks && t > 0 && piece.end_panel - piece.first_panel > 1;
    const bool panel_asked = new_tile ? piece_asked : walk.asks && p > piece.first_panel + 1 && !(last && direct);
    const std::int64_t x_ahead = piece_asked ? 0 : copied_ahead, b_ahead = panel_asked ? 0 : copied_ahead;
    panel_asks asks = walk.asks && !new_tile ? piece.asks(q, p, b) : panel_asks{};
    for (std::int64_t k = 0; k < piece.tiles; ++k) {
        const std::int64_t i = piece.first_tile + k;
        const int height = cover.height(i);
        float* const to = m.sums + (walk.carries ? (p - piece.first_panel) * walk.tiles + k : 0) * walk.tile_floats;
        float* const x = m.rows + k * walk.step;
        const float *const from = t ? to : no_sum, *const a = q.a + t * q.sum_step + cover.first_row(i);
        place_tile(done, q, cover, i, to, panel_off);
        if (last && walk.expects) {
            done.off += walk.expected_ahead;
            f.expect(done, c);
            done.off -= walk.expected_ahead;
        }
        const bool new_panel = in_place && k == 0, whole = w == panel_width && height > 1;
        if (whole && (new_tile || new_panel)) {
            if (!new_panel) copying_tile_of<true, false>(height)(from, to, a, q.sum_step, m.panel, w, n, x, m.panel, x_ahead, b_ahead);
            else if (!new_tile) copying_tile_of<false, true>(height)(from, to, x, height, b, q.b_step, n, x, m.panel, x_ahead, b_ahead);
            else copying_tile_of<true, true>(height)(from, to, a, q.sum_step, b, q.b_step, n, x, m.panel, x_ahead, b_ahead);
        } else {
            if (new_tile) copy_tile(q, cover, i, t, n, x);
            if (last && height == tile_rows && direct) {
                direct(from, x, 1, height, m.panel, w, n, done, c);
                continue;
            }
            if (walk.asks && whole && k > 0 && !new_tile) {
                const asked_rows a = asks.next();
                (height == tile_rows ? asking_tile_of<tile_rows> : asking_tile_of<small_tile_rows>)(a)(from, to, x, m.panel, n, a);
            } else
                (w == panel_width ? tile_of<2>(height) : tile_of<1>(height))(from, to, x, 1, height, m.panel, w, n, 1);
        }
        if (last) f.finish(done, c);
    }
    if (column_sums && piece.first_tile == 0) sum_panel(m.panel, w, there, n, column_sums + j0, t == 0);
}

/// The tiles of `r`, of a product whose q.row_step is 1. `column_sums`, if there: of the right operand, by whoever has the first tile.
template <class = void>
__attribute__((noinline)) inline void run_copying(const product& q, const finisher& f, const call& c, const tile_range& r,
                                                  float* column_sums) {
    alignas(64) float panel[copied_rows * panel_width];
    alignas(64) float copied[copied_floats];
    alignas(64) float continued[continued_floats];
    const row_cover cover(q.rows);
    const copying_walk walk(q, f, r);
    for (std::int64_t first = r.first_tile; first < r.end_tile; first += walk.tiles)
        for (std::int64_t p0 = r.first_panel; p0 < r.end_panel; p0 += walk.panels) {
            const tile_range block{first, r.end_tile - first < walk.tiles ? r.end_tile : first + walk.tiles, p0,
                                   r.end_panel - p0 < walk.panels ? r.end_panel : p0 + walk.panels};
            for (std::int64_t t = 0; t < q.depth; t += copied_rows) {
                const copying_piece piece(q, cover, block, t);
                for (std::int64_t p = block.first_panel; p < block.end_panel; ++p)
                    multiply_panel(q, f, c, cover, walk, piece, {panel, copied, continued}, p, column_sums);
            }
        }
}

} // namespace sinter::cpu
