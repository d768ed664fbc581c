// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/gather_panel.hpp>
#include <sinter/kernel/cpu/product/kept_panels.hpp>
#include <sinter/kernel/cpu/product/product_limits.hpp>
#include <sinter/kernel/cpu/product/row_cover.hpp>
#include <sinter/kernel/cpu/product/tile_of_height.hpp>

/// Products whose left operand lies transposed, [depth][rows], as gradients of weights have it. Where the sums are long, a
/// tile's few floats of each of its rows cost a line each, and rows that are a power of two apart share few places in the caches:
/// so both operands are copied, the left one for some tiles at a time, the right one panel by panel, by the first tiles that read them;
/// or, where all panels stay in cache, the other way round (kept_panels.hpp).
namespace sinter::cpu {

/// Shorter sums are taken from where their operands lie.
inline constexpr std::int64_t least_copied_depth = 96;

/// Rows [t, t + n) of tile i, as [n][its height].
__attribute__((noinline)) inline void copy_tile(const product& q, const row_cover& cover, std::int64_t i, std::int64_t t, std::int64_t n,
                                                float* to) {
    const int height = cover.height(i);
    const std::int64_t begin = cover.begin(i), row = begin + height <= q.rows ? begin : q.rows - height;
    const float* from = q.a + t * q.sum_step + row;
    for (; n > 0; --n, from += q.sum_step, to += height)
        for (int j = 0; j < height; j += lanes)   // what is too much is written over
            store(to + j, height - j < lanes ? load(from + j, height - j) : load(from + j));
}

/// How a product's tiles are split into parts: `down` shares of rows times `across` shares of panels.
struct part_grid {
    int down, across;
    /// The one that copies the least: each share of rows copies the panels, each share of panels the rows.
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

/// These tiles of a product whose q.row_step is 1, some at a time, which stay in the second-level cache while panels pass by. A piece
/// of either operand is copied by the first tile that reads it, as far as whole vectors allow. `column_sums`, if there: of the right one,
/// by whoever has the first tile.
template <class = void>
__attribute__((noinline)) inline void run_copying(const product& q, const finisher& f, const call& c, const tile_range& r,
                                                  float* column_sums) {
    constexpr std::int64_t piece = copied_rows, sums = tile_rows * panel_width;
    alignas(64) float panel[piece * panel_width];
    alignas(64) float copied[copied_floats];
    alignas(64) float continued[continued_floats];
    const row_cover cover(q.rows);
    const std::int64_t longest = q.depth < piece ? q.depth : piece, step = round_up(tile_rows * longest + lanes, 16);
    const bool carry = q.depth > piece, expect = f.expect && q.rows * q.columns > near_floats;
    // Of a large result and short sums the lines of the tiles to come, which follow; then the rows' groups are alike.
    const std::int64_t expected_ahead = q.packed_result && q.depth < least_copied_depth && lies_far(q, f) ? expected_tiles * sums : 0;
    const std::int64_t most = copied_floats / step, all = r.end_tile - r.first_tile, groups = (all + most - 1) / most;
    const std::int64_t room = expected_ahead ? (all + groups - 1) / groups : most;
    const std::int64_t block = carry ? continued_floats / sums / room : r.end_panel - r.first_panel;
    const bool asks = asks_pieces && carry && q.b_layout == right::rows;
    for (std::int64_t first = r.first_tile; first < r.end_tile; first += room) {
        const std::int64_t tiles = r.end_tile - first < room ? r.end_tile - first : room;
        for (std::int64_t p0 = r.first_panel; p0 < r.end_panel; p0 += block)
            for (std::int64_t t = 0; t < q.depth; t += piece) {
                const std::int64_t n = q.depth - t < piece ? q.depth - t : piece;
                const bool last = t + n == q.depth;
                const std::int64_t p_end = p0 + block < r.end_panel ? p0 + block : r.end_panel, top = cover.begin(first);
                const std::int64_t bottom = first + tiles < cover.count ? cover.begin(first + tiles) : q.rows, t_next = t + n;
                const next_piece next{q.a + t_next * q.sum_step + top, q.sum_step,
                                      last ? 0 : (bottom - top + floats_a_line - 1) / floats_a_line,
                                      q.depth - t_next < piece ? q.depth - t_next : piece};
                for (std::int64_t p = p0; p < p_end; ++p) {
                    const std::int64_t j0 = p * panel_width;
                    const int w = panel_columns(q.columns, p, panel_width, lanes);
                    const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
                    const std::int64_t off_step = q.packed_result ? w : q.result_step ? q.result_step : q.columns;
                    finished done{nullptr, 0, q.packed_result ? w : there, w, 0, off_step, 0, q.col + static_cast<int>(j0)};
                    const direct_function direct = done.columns == panel_width ? f.direct : nullptr;
                    const bool in_place = q.b_layout == right::rows && there == panel_width && cover.height(first) > 1;
                    const float* const b = q.b + t * q.b_step + j0;
                    if (!in_place) gather_panel(q, j0, w, t, n, panel);
                    for (std::int64_t k = 0; k < tiles; ++k) {
                        const std::int64_t i = first + k, begin = cover.begin(i);
                        const int height = cover.height(i);
                        const std::int64_t row = begin + height <= q.rows ? begin : q.rows - height;
                        float *const to = continued + (carry ? (p - p0) * room + k : 0) * sums, *const x = copied + k * step;
                        const float *const from = t ? to : no_sum, *const a = q.a + t * q.sum_step + row;
                        done.sums = to + (begin - row) * w;
                        done.rows = static_cast<int>(row + height - begin);
                        done.off = q.off + (q.packed_result ? j0 * q.rows : j0) + begin * off_step;
                        done.row = q.row + begin;
                        if (last && expect) {
                            done.off += expected_ahead;
                            f.expect(done, c);
                            done.off -= expected_ahead;
                        }
                        const bool new_tile = p == p0, new_panel = in_place && k == 0;
                        if ((new_tile || new_panel) && w == panel_width && height > 1) {
                            if (!new_panel) copying_tile_of<true, false>(height)(from, to, a, q.sum_step, panel, w, n, x, panel);
                            else if (!new_tile) copying_tile_of<false, true>(height)(from, to, x, height, b, q.b_step, n, x, panel);
                            else copying_tile_of<true, true>(height)(from, to, a, q.sum_step, b, q.b_step, n, x, panel);
                            if (last) f.finish(done, c);
                            continue;
                        }
                        if (new_tile) copy_tile(q, cover, i, t, n, x);
                        if (last && height == tile_rows && direct) {
                            direct(from, x, 1, height, panel, w, n, done, c);
                            continue;
                        }
                        if (asks && k > 0 && p > p0 && w == panel_width && height > 1) {
                            const asked_rows right = p + 1 < p_end ? asked_rows{b + panel_width, q.b_step, n}
                                : asked_rows{q.b + t_next * q.b_step + p0 * panel_width, q.b_step, last ? 0 : next.rows};
                            const asked_rows ask = next.share(p - p0 - 1, p_end - p0 - 1, k - 1, tiles - 1, right);
                            (height == tile_rows ? multiply_tile_asking_rows<tile_rows> : multiply_tile_asking_rows<small_tile_rows>)(
                                from, to, x, panel, n, ask);
                            if (last) f.finish(done, c);
                            continue;
                        }
                        (w == panel_width ? tile_of<2>(height) : tile_of<1>(height))(from, to, x, 1, height, panel, w, n, 1);
                        if (last) f.finish(done, c);
                    }
                    if (column_sums && first == 0) sum_panel(panel, w, there, n, column_sums + j0, t == 0);
                }
            }
    }
}

/// The parts [part, end) of a product whose q.row_step is 1. What they share they copy together, as far as they are whole columns
/// of the grid.
template <class = void>
inline void run_transposed_product(const product& q, const finisher& f, const call& c, int part, int end, int parts,
                                   float* column_sums = nullptr) {
    const std::int64_t tiles = row_cover(q.rows).count, panels = (q.columns + panel_width - 1) / panel_width;
    const part_grid grid(tiles, panels, parts);
    for (int next; part < end; part = next) {
        const int across = part / grid.down, down = part % grid.down, whole = down ? 0 : (end - part) / grid.down;
        const int column = (across + 1) * grid.down;
        next = whole ? part + whole * grid.down : end < column ? end : column;
        const std::int64_t first_panel = share(panels, across, grid.across);
        const std::int64_t end_panel = share(panels, across + (whole ? whole : 1), grid.across);
        const std::int64_t first = share(tiles, down, grid.down), last = whole ? tiles : share(tiles, down + next - part, grid.down);
        const tile_range range{first, last, first_panel, end_panel};
        (keeps_panels(q, range) ? run_kept_panels<> : run_copying<>)(q, f, c, range, column_sums);
    }
}

} // namespace sinter::cpu
