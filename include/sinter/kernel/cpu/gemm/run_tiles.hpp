// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/gather_panel.hpp>
#include <sinter/kernel/cpu/gemm/product_limits.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/tile_of_height.hpp>

/// The loops around the tile that all matrix products share. They know no body: a finished tile is
/// handed to a function, so that a program compiles everything in this file once. Functions that
/// name tiles are templates, of nothing: so tiles are made for programs whose kernels call them,
/// and not by the include.
namespace sinter::inline SINTER_TARGET::cpu {

/// The tiles [tile, end) of one panel, where nothing has to be prefetched and the whole depth is
/// summed at once: equal ones below each other are summed by one call and finished by one, for what
/// is around a small tile takes as long as the tile itself.
template <class = void>
inline void run_near_tiles(const product& q, finished done, const epilogue& f, const call& c, const row_cover& cover,
                           std::int64_t tile, std::int64_t end, const float* b, std::int64_t b_step,
                           std::int64_t panel_off, float* sums) {
    const bool wide = done.width == panel_width;
    const direct_function direct = done.columns == panel_width ? f.direct : nullptr;
    while (tile < end) {
        const bool large = tile < cover.large;
        const int height = cover.height(tile);
        const std::int64_t begin = cover.begin(tile), alike = (large && cover.large < end ? cover.large : end) - tile;
        const std::int64_t most = large ? (direct ? 1 : finished_rows / tile_rows) : finished_rows / small_tile_rows;
        std::int64_t tiles = alike < most ? alike : most;
        if (tiles > 1 && begin + tiles * height > q.rows) --tiles;   // the last one begins earlier
        const std::int64_t row = cover.first_row(tile);
        const float* x = q.a + row * q.row_step;
        place_tile(done, q, cover, tile, sums, panel_off);
        done.rows += static_cast<int>((tiles - 1) * height);
        if (const small_function whole = large ? f.large : f.small;
            whole && done.columns == panel_width && height > 1 && row == begin) {
            tiles = alike;
            if (begin + tiles * height > q.rows) --tiles;
            whole(x, q.row_step, q.sum_step, b, b_step, q.depth, tiles, done, c);
            tile += tiles;
            continue;
        }
        tile += tiles;
        if (large && direct) {
            direct(no_sum, x, q.row_step, q.sum_step, b, b_step, q.depth, done, c);
            continue;
        }
        (wide ? tile_of<2>(height) : tile_of<1>(height))(no_sum, sums, x, q.row_step, q.sum_step, b, b_step, q.depth,
                                                         tiles);
        f.finish(done, c);
    }
}

/// How the tiles of a panel read the right operand, and what they prefetch meanwhile.
struct panel_reads {
    std::int64_t j0;
    int w, there;                 ///< columns as they lie, and those of them that the product has
    bool wide, transposed;
    bool gather;                  ///< the panel, in pieces that stay in the first-level cache
    bool carry;                   ///< sums from piece to piece
    bool ahead;   ///< prefetch the next panel, if this thread has it: its tiles share each line's floats, or its lines
    bool by_pieces;   ///< a panel that the second-level cache does not hold beside the next one prefetches its own next
                      ///< piece
    std::int64_t piece, ahead_step;

    SINTER_INLINE panel_reads(const product& q, const call& c, const row_cover& cover, std::int64_t p)
        : j0(p * panel_width), w(panel_columns(q.columns, p, panel_width, lanes)),
          there(static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w)), wide(w == panel_width),
          transposed(q.b_layout == right::transposed_panels),
          // Few rows do not repay gathering, if the vectors can be read where they are; nor do
          // many, where all of them stay there.
          gather(q.b_layout == right::columns || transposed ||
                 (q.b_layout == right::rows && (there < w || (cover.count > 2 && q.depth * q.b_step > near_floats)))),
          carry(q.depth > (gather ? gathered_floats : streamed_floats) / panel_width),
          ahead(wide && (q.b_layout == right::panels || transposed) && q.depth * q.columns > non_temporal_floats &&
                cover.count <= panel_width && j0 + 2 * panel_width <= q.columns && !q.by_rows &&
                (p + 1) * cover.count < thread_end(c, tiles_of(q, cover))),
          by_pieces(registers < 32 && ahead && !transposed && carry && cover.count > 1),
          piece((gather || by_pieces ? gathered_floats : streamed_floats) / panel_width),
          ahead_step((panel_width + cover.count - 1) / cover.count) {}
};

/// A piece of the depth, [t, t + n), whose right operand lies at b.
struct depth_piece {
    const float* b;
    std::int64_t b_step, t, n;
    bool last;
};

/// What tile i prefetches of what comes after this piece of its panel.
SINTER_INLINE prefetch_stream stream_ahead(const product& q, const row_cover& cover, const panel_reads& r,
                                           const depth_piece& d, std::int64_t i) {
    if (r.transposed) {   // squares of the weights' panels: this panel's next piece, or the next one's first
        const std::int64_t square = panel_width * r.ahead_step;
        return {q.b + (d.last ? r.j0 + panel_width : r.j0) * panel_width + (d.last ? 0 : d.t + d.n) * q.columns +
                    i * square,
                r.ahead_step, panel_width * q.columns - square};
    }
    const float* const next_panel = q.b + (r.j0 + panel_width) * q.depth;
    if (cover.count == 1 && q.depth * panel_width > gathered_floats)
        return {d.b + gathered_floats, r.ahead_step};   // front to back
    if (r.by_pieces) return {(d.last ? next_panel : d.b + d.n * panel_width) + i * d.n * r.ahead_step, r.ahead_step};
    return {next_panel + i * r.ahead_step * q.depth + d.t * r.ahead_step, r.ahead_step};
}

/// What is prefetched of the result: nothing, or the lines of a tile so many floats ahead of the
/// one that is summed.
struct result_reads {
    bool prefetches;
    std::int64_t ahead;

    SINTER_INLINE result_reads(const product& q, const epilogue& f) {
        const std::int64_t size = q.rows * q.columns;
        const bool leaves_caches = q.packed_result && size > non_temporal_floats;
        prefetches =
            (leaves_caches ? prefetches_result(q, f)
                           : f.prefetch && size > (q.depth < 2 * short_sum ? non_temporal_floats : near_floats)) &&
            q.depth >= short_sum;
        ahead = leaves_caches ? prefetched_tiles * tile_rows * panel_width
                              : 0;   // of a large packed result tiles follow each other
    }
};

/// Tile i over a piece of the depth; behind the last one it is finished. `sums` is where its sums
/// lie or go on.
template <class = void>
SINTER_INLINE void run_tile(const product& q, const epilogue& f, const call& c, const row_cover& cover,
                            const panel_reads& r, const depth_piece& d, const result_reads& result, finished& done,
                            std::int64_t i, float* sums) {
    const bool large = i < cover.large;
    const int rest_height = cover.height(cover.large);
    const float *const x = q.a + cover.first_row(i) * q.row_step + d.t * q.sum_step, *const from = d.t ? sums : no_sum;
    const direct_function direct = large && done.columns == panel_width ? f.direct : nullptr;
    const bool prefetches_ahead = r.ahead && i * r.ahead_step < panel_width && (large || rest_height > 1);
    if (d.last && result.prefetches) {
        const bool bit_by_bit =
            !prefetches_ahead && !result.ahead;   // lines one by one, or a row's at a time, and not all at once
        if (bit_by_bit && f.list && r.wide && rest_height > 1 && !direct) {
            tile_lines lines;
            if (f.lists(done, c, d.n, lines)) {
                line_prefetching_tile_of(large ? tile_rows : small_tile_rows)(from, sums, x, q.row_step, q.sum_step,
                                                                              d.b, d.b_step, d.n, lines);
                return f.finish(done, c);
            }
        }
        if (bit_by_bit && direct && f.direct_prefetching && d.n >= tile_rows)
            return f.direct_prefetching(from, x, q.row_step, q.sum_step, d.b, d.b_step, d.n, done, c);
        done.off += result.ahead;
        f.prefetch(done, c);
        done.off -= result.ahead;
    }
    if (prefetches_ahead) {
        const ahead_function sum = ahead_of_panel(large, r.ahead_step, r.transposed || r.ahead_step > floats_a_line);
        sum(from, sums, x, q.row_step, q.sum_step, d.b, d.b_step, d.n, stream_ahead(q, cover, r, d, i));
    } else if (d.last && direct) {
        return direct(from, x, q.row_step, q.sum_step, d.b, d.b_step, d.n, done, c);
    } else {
        const int height = large ? tile_rows : rest_height;
        (r.wide ? tile_of<2>(height) : tile_of<1>(height))(from, sums, x, q.row_step, q.sum_step, d.b, d.b_step, d.n,
                                                           1);
    }
    if (d.last) f.finish(done, c);
}

/// The tiles [tile, end) of the product, numbered panel by panel. The body sees c as it is.
template <class = void>
__attribute__((noinline)) inline void run_tiles(const product& q, const epilogue& f, const call& c, std::int64_t tile,
                                                std::int64_t end) {
    alignas(64) float gathered[gathered_floats];
    alignas(64) float carried[carried_tiles * tile_rows * panel_width];
    const row_cover cover(q.rows);
    const result_reads result(q, f);
    const bool panels = q.b_layout == right::panels;
    std::int64_t gathered_panel = -1;
    while (tile < end) {
        const std::int64_t p = tile / cover.count, first = tile % cover.count;
        const panel_reads r(q, c, cover, p);
        std::int64_t group = cover.count - first < end - tile ? cover.count - first : end - tile;
        if (r.carry && group > carried_tiles) group = carried_tiles;
        finished done = panel_results(q, r.j0, r.w, r.there);
        const std::int64_t panel_off = done.off, b_step = r.gather || panels ? r.w : q.b_step;
        const bool whole = !r.carry && !r.ahead;   // panels, and nothing is prefetched of the next one
        if (whole && f.below && result.prefetches && !result.ahead && !r.gather && first < cover.large &&
            done.columns == panel_width) {
            const std::int64_t tiles = (first + group < cover.large ? first + group : cover.large) - first;
            place_tile(done, q, cover, first, no_sum, panel_off);
            f.below(q.a + cover.begin(first) * q.row_step, q.row_step, q.sum_step, q.b + r.j0 * q.depth, r.w, q.depth,
                    tiles, done, c);
            tile += tiles;
            continue;
        }
        if (whole && !result.prefetches) {
            if (r.gather) gather_panel(q, r.j0, r.w, 0, q.depth, gathered);
            const float* const b = r.gather ? gathered : panels ? q.b + r.j0 * q.depth : q.b + r.j0;
            run_near_tiles(q, done, f, c, cover, first, first + group, b, b_step, panel_off, carried);
            tile += group;
            continue;
        }
        for (std::int64_t t = 0; t < q.depth; t += r.piece) {
            const std::int64_t n = q.depth - t < r.piece ? q.depth - t : r.piece;
            if (r.gather && (r.carry || gathered_panel != p)) gather_panel(q, r.j0, r.w, t, n, gathered);
            gathered_panel = p;
            const float* const b = r.gather ? gathered
                                   : panels ? q.b + r.j0 * q.depth + t * r.w
                                            : q.b + t * q.b_step + r.j0;
            float* sums = carried;
            for (std::int64_t i = first; i < first + group; ++i, sums += r.carry ? tile_rows * panel_width : 0) {
                place_tile(done, q, cover, i, sums, panel_off);
                run_tile(q, f, c, cover, r, {b, b_step, t, n, t + n == q.depth}, result, done, i, sums);
            }
        }
        tile += group;
    }
}

/// One part of `parts`.
template <class = void>
inline void run_product(const product& q, const epilogue& f, const call& c, int part, int parts) {
    const std::int64_t tiles = tiles_of(q);
    run_tiles(q, f, c, share(tiles, part, parts), share(tiles, part + 1, parts));
}

/// As run_tiles, where the left operand is known to be zero.
__attribute__((noinline)) inline void finish_zeros(const product& q, const epilogue& f, const call& c,
                                                   std::int64_t tile, std::int64_t end) {
    const row_cover cover(q.rows);
    const std::int64_t off_step = q.result_step ? q.result_step : q.columns;
    for (; tile < end; ++tile) {
        const std::int64_t p = tile / cover.count, i = tile % cover.count, j0 = p * panel_width, begin = cover.begin(i);
        const int w = panel_columns(q.columns, p, panel_width, lanes), height = cover.height(i);
        const int rows = static_cast<int>(q.rows - begin < height ? q.rows - begin : height);
        const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
        f.finish({no_sum, rows, there, w, q.off + j0 + begin * off_step, off_step, q.row + begin,
                  q.col + static_cast<int>(j0)},
                 c);
    }
}

} // namespace sinter::cpu
