// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/gemm/product_limits.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>
#include <sinter/kernel/cpu/gemm/tile_of_height.hpp>
#include <sinter/kernel/cpu/rowwise/producer_rows.hpp>

/// Products of pixels and packed weights whose results meet arrays that come from memory: every
/// iteration of a tile's loop prefetches a few lines that bodies will touch soon, and a piece of
/// the next panel, or of the pixels to come where the weights stay in cache. Some rows at a time
/// are multiplied; where a body walks several arrays, their sums wait until there are long pieces
/// of rows, which memory gives faster than the two lines of a tile's.
namespace sinter::inline SINTER_TARGET::cpu {

/// Weights that stay in the second-level cache while pixels pass: those are what has to be
/// prefetched, then.
inline constexpr std::int64_t staying_floats = 65536;
/// Columns of rows that wait until they are whole. Rows of a page and more wait, too.
inline constexpr std::int64_t waiting_columns = 256;

/// What a tile's loop prefetches: `lines`, L in every iteration (or as many as are written out),
/// `ahead` floats further on each, and two streams, so many floats of each in an iteration.
struct prefetched_lines {
    const tile_lines& lines;
    std::int64_t ahead;
    const float* stream;
    std::int64_t step;
    const float* other = stream;
    std::int64_t other_step = 0;
};

/// to[i * to_step + j] = the sums of row i and column j of a panel.
template <int MR, int L>
__attribute__((noinline)) void multiply_pixels(float* to, std::int64_t to_step, const float* x, std::int64_t row_step,
                                               const float* b, std::int64_t n, const prefetched_lines& a) {
    vf c[std::size_t{MR * 2}];
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = zero(); });
    const float* const* at = a.lines.line;
    const float* const* const last = at + std::max(0, a.lines.count - L);
    const std::int64_t ahead = a.ahead, step = a.step * iterations_at_once,
                       other_step = a.other_step * iterations_at_once;
    const float *stream = a.stream, *other = a.other;
    accumulate<MR, 2, iterations_at_once>(c, x, row_step, 1, b, panel_width, n, [&]() SINTER_ALWAYS {
        if constexpr (L > 0) {
            unroll<L>([&](int i) SINTER_ALWAYS { __builtin_prefetch(at[i] + ahead); });
            at = at + L < last ? at + L : last;
        }
        __builtin_prefetch(stream, 0, 2);
        if constexpr (iterations_at_once > 1) __builtin_prefetch(stream + step / 2, 0, 2);
        stream += step;
        __builtin_prefetch(other, 0, 2);
        other += other_step;
    });
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { store(to + i / 2 * to_step + i % 2 * lanes, c[i]); });
}

using pixels_function = decltype(&multiply_pixels<tile_rows, 0>);
template <int MR>
pixels_function pixels_of(std::int64_t lines) {   // in an iteration, or as many as are written out
    if constexpr (iterations_at_once > 1) {
        if (lines > 8) return multiply_pixels<MR, 16>;
        if (lines > 6) return multiply_pixels<MR, 8>;
        if (lines > 4) return multiply_pixels<MR, 6>;
    }
    if (lines > 2) return multiply_pixels<MR, 4>;
    if (lines > 1) return multiply_pixels<MR, 2>;
    return lines > 0 ? multiply_pixels<MR, 1> : multiply_pixels<MR, 0>;
}

/// So many of a tile's lines each call of pixels_of's functions takes an iteration.
constexpr std::int64_t lines_per_iteration(std::int64_t lines, std::int64_t depth) {
    const std::int64_t iterations = std::max<std::int64_t>(1, depth / iterations_at_once);
    return (lines + iterations - 1) / iterations;
}

/// What a block's pixels to come are made of, where the kernel itself makes them
/// (producer_rows.hpp): of each array `floats` from `array` on, prefetched one array after the
/// other while the block before is multiplied.
struct pixel_sources {
    const float* array[row_functions::most_arrays];
    int arrays = 0;
    std::int64_t floats = 0;

    pixel_sources() = default;
    /// Of `rows` pixels, from the first one on.
    pixel_sources(const producer_rows& producer, std::int64_t first, std::int64_t rows, std::int64_t depth)
        : arrays(producer.arrays(array)), floats(rows * depth) {
        for (int i = 0; i < arrays; ++i) array[i] += first * depth;
    }
    const float* at(std::int64_t k) const {
        const std::int64_t i = std::min<std::int64_t>(k / floats, arrays - 1);
        return array[i] + k - i * floats;
    }
};

/// Rows [first, last) by columns [j0, j0 + width) of a result, row-major in `sums`: some tiles of
/// the cover by some panels.
struct pixel_piece {
    const product& q;
    const row_cover& cover;
    const pixel_sources& sources;
    std::int64_t tile, last_tile, j0, width;
    std::int64_t top() const { return cover.begin(tile); }
    std::int64_t bottom() const { return last_tile < cover.count ? cover.begin(last_tile) : q.rows; }
    std::int64_t start() const {
        return std::min(top(), q.rows - cover.height(tile));
    }   ///< row at `sums`: the last tile may begin above
    std::int64_t step() const { return round_up(width, lanes); }
    std::int64_t result_step() const { return q.result_step ? q.result_step : q.columns; }

    /// `next`: the first element of the piece to come.
    template <class = void>
    void multiply(const epilogue& f, const call& c, std::int64_t next, float* sums) const {
        alignas(64) float narrow[tile_rows * lanes];
        const std::int64_t first = j0 / panel_width, end = (j0 + width + panel_width - 1) / panel_width,
                           tiles = last_tile - tile;
        const std::int64_t rows = (tile_rows + end - first - 1) / (end - first);   // that each tile prefetches
        const std::int64_t panels = (q.columns + panel_width - 1) / panel_width, calls = panels * tiles;
        const bool stay = q.depth * q.columns <= staying_floats;
        // rows of the streams
        const std::int64_t share = stay ? (bottom() - top() + calls - 1) / calls : (panel_width + tiles - 1) / tiles;
        const std::int64_t source_share = ((bottom() - top()) * sources.arrays + calls - 1) / calls;
        // Where there are more tiles than rows several share one, so that memory is not prefetched
        // all of it at once.
        const std::int64_t parts = std::max<std::int64_t>(1, tiles * (end - first) / (bottom() - top()));
        const std::int64_t part = parts > 1 ? round_up((width + parts - 1) / parts, floats_a_line) : width;
        tile_lines lines;
        const int columns = static_cast<int>(std::min(part, width));
        if (f.list) f.list({sums, static_cast<int>(rows), columns, columns, 0, result_step(), 0, 0}, c, lines);
        lines.repeat_last();
        const std::int64_t n_lines = lines_per_iteration(lines.count, q.depth);
        std::int64_t row = top() + rows, column = 0;
        for (std::int64_t p = first; p < end; ++p) {
            const int w = panel_columns(q.columns, p, panel_width, lanes);
            const float* const b = q.b + p * panel_width * q.depth;
            const float* const next_panel = (p + 1) * panel_width < q.columns ? b + panel_width * q.depth : q.b;
            const float* const stream = stay ? q.a + bottom() * q.row_step + p * tiles * share * q.depth : next_panel;
            const float* const source =
                sources.arrays ? sources.at((top() * sources.arrays + p * tiles * source_share) * q.depth) : stream;
            for (std::int64_t i = tile; i < last_tile; ++i) {
                const int height = cover.height(i);
                const std::int64_t at = std::min(cover.begin(i), q.rows - height);
                const float* const x = q.a + at * q.row_step;
                float* const to = sums + (at - start()) * step() + p * panel_width - j0;
                if (w == panel_width) {
                    const prefetched_lines a{lines, (row < bottom() ? q.off + row * result_step() + j0 : next) + column,
                                        stream + (i - tile) * share * q.depth, share,
                                        source + (i - tile) * source_share * q.depth, source_share};
                    column += part;
                    if (column >= width) column = 0, row += rows;
                    (i < cover.large ? pixels_of<tile_rows>
                                     : pixels_of<small_tile_rows>)(n_lines)(to, step(), x, q.row_step, b, q.depth, a);
                    continue;
                }
                tile_of<1>(height)(no_sum, narrow, x, q.row_step, 1, b, w, q.depth, 1);
                for (int r = 0; r < height; ++r) store(to + r * step(), load(narrow + r * lanes));
            }
        }
    }
    void finish(const epilogue& f, const call& c, int rows_at_once, const float* sums) const {
        const int columns = static_cast<int>(width), sums_step = static_cast<int>(step());
        for (std::int64_t i = top(); i < bottom(); i += rows_at_once) {
            const int n = static_cast<int>(std::min<std::int64_t>(rows_at_once, bottom() - i));
            f.finish({sums + (i - start()) * step(), n, columns, sums_step, q.off + i * result_step() + j0,
                      result_step(), q.row + i, q.col + static_cast<int>(j0)},
                     c);
        }
    }
};

/// Columns that all pixels are multiplied by before the next ones are: as many as stay in the
/// second-level cache, if pixels are not read all too often then.
constexpr std::int64_t columns_at_once(std::int64_t depth, std::int64_t columns) {
    const std::int64_t fit = staying_floats / depth / panel_width * panel_width;
    return fit >= waiting_columns ? std::min(fit, columns) : columns;
}

/// run_product of a block of whole rows by a packed right operand; the result is row-major.
template <class = void>
__attribute__((noinline)) inline void run_pixels(const product& q, const epilogue& f, const call& c,
                                                 const pixel_sources& sources = {}) {
    constexpr std::int64_t waiting_tiles = std::max(1, 28 / tile_rows), passing_tiles = std::max(1, 42 / tile_rows);
    constexpr std::int64_t columns = waiting_columns;
    alignas(64) float sums[passing_tiles * tile_rows * columns];
    if (q.rows < small_tile_rows || q.depth > streamed_floats / panel_width) return run_product(q, f, c, 0, 1);
    tile_lines arrays;   // one line of each
    if (f.list) f.list({sums, 1, 1, 1, 0, q.columns, 0, 0}, c, arrays);
    const bool waits = arrays.count > 2 || (q.result_step ? q.result_step : q.columns) >= a_page;
    const row_cover cover(q.rows);
    const std::int64_t tiles = waits ? waiting_tiles : passing_tiles, width = waits ? columns : panel_width;
    for (std::int64_t t = 0; t < cover.count; t += tiles)
        for (std::int64_t j = 0; j < q.columns; j += width) {
            const pixel_piece piece{
                q, cover, sources, t, std::min(t + tiles, cover.count), j, std::min(width, q.columns - j)};
            const std::int64_t step = piece.result_step();
            const std::int64_t next = j + width < q.columns ? piece.top() * step + j + width : piece.bottom() * step;
            piece.multiply(f, c, q.off + next, sums);
            piece.finish(f, c, waits ? 2 : static_cast<int>(passing_tiles * tile_rows), sums);
        }
}

} // namespace sinter::cpu
