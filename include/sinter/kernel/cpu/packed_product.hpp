// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/transposed_product.hpp>

/// Products whose left operand lies transposed, [depth][rows], over a long depth, as gradients of weights have it. Both operands are
/// copied once for all parts into the order in which tiles read them. The copies read whole rows, one behind the other, as
/// memory likes it: these operands are mostly cold, written long before by the layers' passes.
namespace sinter::cpu {

/// Where the copies lie: tiles as [tile][depth][its height] and panels as [panel][depth][its columns], a little apart so that they
/// begin in different sets of a cache. The tiles are kept: another gradient may be of the same layer's input.
struct packed_operands {
    std::int64_t tiles, panels, tile_step, panel_step;
    constexpr packed_operands(std::int64_t rows, std::int64_t columns, std::int64_t depth)
        : tiles(row_cover(rows).count), panels((columns + panel_width - 1) / panel_width),
          tile_step(round_up(tile_rows * depth + lanes, 16) + 16), panel_step(depth * panel_width + 16) {}
    constexpr std::int64_t floats() const { return panels * panel_step; }
    constexpr std::int64_t kept_floats() const { return tiles * tile_step; }
    float* tile(const call& c, std::int64_t i) const { return c.kept + i * tile_step; }
    float* panel(const call& c, std::int64_t p) const { return c.scratch + p * panel_step; }
};

/// Panels [p, end), which all are whole ones, of a row-major right operand.
__attribute__((noinline)) inline void pack_whole_panels(const product& q, std::int64_t p, std::int64_t end, float* to, std::int64_t step) {
    for (std::int64_t t = 0; t < q.depth; ++t, to += panel_width) {
        const float* from = q.b + t * q.b_step + p * panel_width;
        float* place = to;
        for (std::int64_t k = p; k < end; ++k, from += panel_width, place += step) {
            store(place, load(from));
            store(place + lanes, load(from + lanes));
        }
    }
}

/// This call's share of the copying; q.row_step is 1, q.b row-major. A thread's parts are copied together: longer pieces of rows.
/// `has_tiles`: the launch before has left the tiles.
inline void pack_operands(const product& q, const call& c, bool has_tiles = false) {
    const bool together = c.end > c.first;
    if (together && c.part != c.first) return;
    const int last = together ? c.end : c.part + 1;
    const packed_operands o(q.rows, q.columns, q.depth);
    const std::int64_t tile = share(o.tiles, c.part, c.parts), p = share(o.panels, c.part, c.parts), end = share(o.panels, last, c.parts);
    if (!has_tiles) pack_tiles(q, row_cover(q.rows), tile, share(o.tiles, last, c.parts) - tile, 0, q.depth, o.tile(c, tile), o.tile_step);
    const std::int64_t whole = q.columns / panel_width;
    if (const std::int64_t e = end < whole ? end : whole; p < e) pack_whole_panels(q, p, e, o.panel(c, p), o.panel_step);
    if (p < end && end > whole)
        gather_panel(q, whole * panel_width, panel_columns(q.columns, whole, panel_width, lanes), 0, q.depth, o.panel(c, whole));
}

/// The tiles [tile, end), numbered as by run_tiles, of operands that have been packed into the call's scratch space: some tiles at a
/// time, which stay in the second-level cache while panels pass by.
__attribute__((noinline)) inline void run_packed(const product& q, const finisher& f, const call& c, std::int64_t tile, std::int64_t end) {
    constexpr std::int64_t piece = gathered_floats / panel_width, sums = tile_rows * panel_width;
    alignas(64) float carried[continued_floats];
    const packed_operands o(q.rows, q.columns, q.depth);
    const row_cover cover(q.rows);
    const bool carry = q.depth > piece, expect = f.expect && q.rows * q.columns > near_floats;
    const std::int64_t block = packed_floats / (tile_rows * (carry ? piece : q.depth)), end_panel = (end + o.tiles - 1) / o.tiles;
    const std::int64_t together = carry ? continued_floats / sums / block : end_panel;   // panels whose sums are carried at once
    for (std::int64_t first = 0; first < o.tiles; first += block)
        for (std::int64_t p0 = tile / o.tiles; p0 < end_panel; p0 += together)
            for (std::int64_t t = 0; t < q.depth; t += piece) {
                const std::int64_t n = q.depth - t < piece ? q.depth - t : piece;
                const bool last = t + n == q.depth;
                for (std::int64_t p = p0; p < end_panel && p < p0 + together; ++p) {
                    const std::int64_t j0 = p * panel_width, from_tile = tile - p * o.tiles, to_tile = end - p * o.tiles;
                    const int w = panel_columns(q.columns, p, panel_width, lanes);
                    const float* b = o.panel(c, p) + t * w;
                    finished done{nullptr, 0, w, w, 0, w, 0, static_cast<int>(j0)};
                    const direct_function direct = w == panel_width ? f.direct : nullptr;
                    std::int64_t i = first > from_tile ? first : from_tile;
                    const std::int64_t stop = first + block < o.tiles ? first + block : o.tiles;
                    for (; i < stop && i < to_tile; ++i) {
                        const int height = cover.height(i);
                        const std::int64_t begin = cover.begin(i), row = begin + height <= q.rows ? begin : q.rows - height;
                        float* to = carried + (carry ? (p - p0) * block + i - first : 0) * sums;
                        const float *from = t ? to : no_sum, *x = o.tile(c, i) + t * height;
                        done.sums = to + (begin - row) * w;
                        done.rows = static_cast<int>(row + height - begin);
                        done.off = j0 * q.rows + begin * w;
                        done.row = begin;
                        if (last && expect) f.expect(done, c);
                        if (last && height == tile_rows && direct) {
                            direct(from, x, 1, height, b, w, n, done, c);
                            continue;
                        }
                        (w == panel_width ? tile_of<2>(height) : tile_of<1>(height))(from, to, x, 1, height, b, w, n, 1);
                        if (last) f.finish(done, c);
                    }
                }
            }
}

} // namespace sinter::cpu
