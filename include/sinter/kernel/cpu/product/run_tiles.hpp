// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/gather_panel.hpp>
#include <sinter/kernel/cpu/product/product_limits.hpp>
#include <sinter/kernel/cpu/product/row_cover.hpp>
#include <sinter/kernel/cpu/product/tile_of_height.hpp>

/// The loops around the tile that all matrix products share. They know no body: a finished tile is handed to a
/// function, so that a program compiles everything in this file once. Functions that name tiles are templates, of nothing: so tiles
/// are made for programs whose kernels call them, and not by the include.
namespace sinter::cpu {

/// The tiles [tile, end) of one panel, where nothing has to be asked for and the whole depth is summed at once: equal ones below
/// each other are summed by one call and finished by one, for what is around a small tile takes as long as the tile itself.
template <class = void>
inline void run_near_tiles(const product& q, finished done, const finisher& f, const call& c, const row_cover& cover,
                           std::int64_t tile, std::int64_t end, const float* b, std::int64_t b_step, std::int64_t panel_off,
                           float* sums) {
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
        if (const small_function whole = large ? f.large : f.small; whole && done.columns == panel_width && height > 1 && row == begin) {
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
        (wide ? tile_of<2>(height) : tile_of<1>(height))(no_sum, sums, x, q.row_step, q.sum_step, b, b_step, q.depth, tiles);
        f.finish(done, c);
    }
}

/// The tiles [tile, end) of the product, numbered panel by panel. The body sees c as it is.
template <class = void>
__attribute__((noinline)) inline void run_tiles(const product& q, const finisher& f, const call& c, std::int64_t tile, std::int64_t end) {
    alignas(64) float gathered[gathered_floats];
    alignas(64) float carried[carried_tiles * tile_rows * panel_width];
    const row_cover cover(q.rows);
    const std::int64_t size = q.rows * q.columns;
    const bool far = q.packed_result && size > far_floats;
    const bool expect = (far ? lies_far(q, f) : f.expect && size > (q.depth < 2 * short_sum ? far_floats : near_floats)) &&
        q.depth >= short_sum;
    // Of a large packed result the lines of the tiles to come, which follow.
    const std::int64_t expected_ahead = far ? expected_tiles * tile_rows * panel_width : 0;
    std::int64_t gathered_panel = -1;
    while (tile < end) {
        const std::int64_t p = tile / cover.count, first = tile % cover.count, j0 = p * panel_width;
        const int w = panel_columns(q.columns, p, panel_width, lanes);
        const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
        // Few rows do not repay gathering, if the vectors can be read where they are.
        const bool gather = q.b_layout == right::columns || q.b_layout == right::turned_panels ||
                            (q.b_layout == right::rows && (cover.count > 2 || there < w));
        const bool wide = w == panel_width, carry = q.depth > (gather ? gathered_floats : streamed_floats) / panel_width;
        std::int64_t group = cover.count - first < end - tile ? cover.count - first : end - tile;
        if (carry && group > carried_tiles) group = carried_tiles;
        const int rest_height = cover.height(cover.large);
        const tile_function large = wide ? tile_of<2>(tile_rows) : tile_of<1>(tile_rows);
        const tile_function rest = wide ? tile_of<2>(rest_height) : tile_of<1>(rest_height);
        // The tiles of a panel share the next one's lines, a part of each line's floats for every tile.
        const bool turned = q.b_layout == right::turned_panels;
        const bool ahead = wide && (q.b_layout == right::panels || turned) && q.depth * q.columns > far_floats &&
                           cover.count <= panel_width && j0 + 2 * panel_width <= q.columns;
        // A panel that the second-level cache does not hold beside the next one: its own next piece's.
        const bool by_pieces = registers < 32 && ahead && !turned && carry && cover.count > 1;
        const std::int64_t piece = (gather || by_pieces ? gathered_floats : streamed_floats) / panel_width;
        const std::int64_t ahead_step = (panel_width + cover.count - 1) / cover.count;
        finished done = panel_results(q, j0, w, there);
        const std::int64_t panel_off = done.off;
        const direct_function direct = done.columns == panel_width ? f.direct : nullptr;
        if (f.below && expect && !far && !carry && !ahead && !gather && first < cover.large && done.columns == panel_width) {
            const std::int64_t tiles = (first + group < cover.large ? first + group : cover.large) - first, begin = cover.begin(first);
            place_tile(done, q, cover, first, no_sum, panel_off);
            f.below(q.a + begin * q.row_step, q.row_step, q.sum_step, q.b + j0 * q.depth, w, q.depth, tiles, done, c);
            tile += tiles;
            continue;
        }
        if (!carry && !expect && !ahead) {
            const bool panels = q.b_layout == right::panels;
            const float* b = gather ? gathered : panels ? q.b + j0 * q.depth : q.b + j0;
            if (gather) gather_panel(q, j0, w, 0, q.depth, gathered);
            run_near_tiles(q, done, f, c, cover, first, first + group, b, gather || panels ? w : q.b_step, panel_off, carried);
            tile += group;
            continue;
        }
        for (std::int64_t t = 0; t < q.depth; t += piece) {
            const std::int64_t n = q.depth - t < piece ? q.depth - t : piece;
            const float* b = q.b_layout == right::panels ? q.b + j0 * q.depth + t * w : q.b + t * q.b_step + j0;
            const std::int64_t b_step = gather || q.b_layout == right::panels ? w : q.b_step;
            if (gather) {
                if (carry || gathered_panel != p) gather_panel(q, j0, w, t, n, gathered);
                gathered_panel = p;
                b = gathered;
            }
            const bool last = t + n == q.depth;
            float* sums = carried;
            for (std::int64_t i = first; i < first + group; ++i, sums += carry ? tile_rows * panel_width : 0) {
                const bool is_large = i < cover.large;
                const float* x = q.a + cover.first_row(i) * q.row_step + t * q.sum_step;
                place_tile(done, q, cover, i, sums, panel_off);
                const float* from = t ? sums : no_sum;
                const bool asks_ahead = ahead && i * ahead_step < panel_width && (is_large || rest_height > 1);
                if (last && expect && f.list && wide && rest_height > 1 && !asks_ahead && !expected_ahead &&
                    !(is_large && direct)) {
                    tile_lines lines;
                    f.list(done, c, lines);
                    if (lines.count > 0 && lines.count <= n) {
                        const auto sum = is_large ? multiply_tile_asking<tile_rows> : multiply_tile_asking<small_tile_rows>;
                        sum(from, sums, x, q.row_step, q.sum_step, b, b_step, n, lines);
                        f.finish(done, c);
                        continue;
                    }
                }
                if (last && expect && is_large && direct && f.asking && !asks_ahead && !expected_ahead && n >= tile_rows) {
                    f.asking(from, x, q.row_step, q.sum_step, b, b_step, n, done, c);
                    continue;
                }
                if (last && expect) {
                    done.off += expected_ahead;
                    f.expect(done, c);
                    done.off -= expected_ahead;
                }
                if (asks_ahead) {
                    const ahead_function sum = turned || ahead_step > floats_a_line ? ahead_of<true>(is_large) : ahead_of<false>(is_large);
                    expected_stream next{q.b + (j0 + panel_width + i * ahead_step) * q.depth + t * ahead_step, ahead_step};
                    if (!turned && cover.count == 1 && q.depth * panel_width > gathered_floats) {   // panels are read once, front to back
                        next.at = b + gathered_floats;
                    } else if (by_pieces) {
                        next.at = (last ? q.b + (j0 + panel_width) * q.depth : b + n * panel_width) + i * n * ahead_step;
                    } else if (turned) {   // squares of the weights' panels: this panel's next piece, or the next one's first
                        const std::int64_t square = panel_width * ahead_step;
                        next.at = q.b + (last ? j0 + panel_width : j0) * panel_width + (last ? 0 : t + n) * q.columns + i * square;
                        next.jump = panel_width * q.columns - square;
                    }
                    sum(from, sums, x, q.row_step, q.sum_step, b, b_step, n, next);
                    if (last) f.finish(done, c);
                    continue;
                }
                if (last && is_large && direct) {
                    direct(from, x, q.row_step, q.sum_step, b, b_step, n, done, c);
                    continue;
                }
                (is_large ? large : rest)(from, sums, x, q.row_step, q.sum_step, b, b_step, n, 1);
                if (last) f.finish(done, c);
            }
        }
        tile += group;
    }
}

template <class = void>
inline void run_product(const product& q, const finisher& f, const call& c, int part, int parts) {
    const std::int64_t tiles = tiles_of(q);
    run_tiles(q, f, c, share(tiles, part, parts), share(tiles, part + 1, parts));
}

/// As run_tiles, where the left operand is known to be zero.
__attribute__((noinline)) inline void finish_zeros(const product& q, const finisher& f, const call& c, std::int64_t tile,
                                                   std::int64_t end) {
    const row_cover cover(q.rows);
    const std::int64_t off_step = q.result_step ? q.result_step : q.columns;
    for (; tile < end; ++tile) {
        const std::int64_t p = tile / cover.count, i = tile % cover.count, j0 = p * panel_width, begin = cover.begin(i);
        const int w = panel_columns(q.columns, p, panel_width, lanes), height = cover.height(i);
        const int rows = static_cast<int>(q.rows - begin < height ? q.rows - begin : height);
        const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
        f.finish({no_sum, rows, there, w, q.off + j0 + begin * off_step, off_step, q.row + begin, q.col + static_cast<int>(j0)}, c);
    }
}

} // namespace sinter::cpu
