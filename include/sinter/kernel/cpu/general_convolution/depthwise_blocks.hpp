// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/channel_panels.hpp>
#include <sinter/kernel/cpu/general_convolution/result_strips.hpp>
#include <sinter/kernel/cpu/general_convolution/source_copies.hpp>
#include <sinter/kernel/cpu/general_convolution/tap_tile.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>

namespace sinter::cpu {

/// How depthwise convolutions are cut: blocks of some rows and columns of one image's results, for which the second-level cache has room,
/// and within them pieces of some vectors of channels, row by row. The rows of sources that a row of results meets are copied when
/// they are first met, each in place of one that is met no more: so what is summed lies in the first-level cache, with zeros for the
/// padding at the rows' ends.
template <bool Backward>
struct depthwise_blocks {
    convolution_axis<Backward> z, y, x;
    int channels, rows, columns;           ///< of a block's results at most
    int vectors;                           ///< of a piece's channels at most
    int planes, ring, width;               ///< sources: rows of each plane that are there at once, and a row's pixels
    std::int64_t pixel;                    ///< floats of one: an odd number of lines, or pixels would meet in few of a cache's sets
    int row_blocks = 1, column_blocks = 1;

    constexpr depthwise_blocks(const convolution_extents& c, int most_columns)
        : z(c.axis[0]), y(c.axis[1]), x(c.axis[2]), channels(c.inputs), rows(y.results()), columns(x.results()),
          vectors((c.inputs + lanes - 1) / lanes), planes(z.most_met(1)), ring(y.most_met(1)), width(0), pixel(0) {
        const int phases = x.phases(), most = std::max(most_columns, 4 * x.reach() / x.stride) * phases;
        if (columns > most) columns = static_cast<int>(round_up(equal_piece(columns, most), phases));
        width = x.most_met(tiles(columns).covered() * phases);
        const std::int64_t lines = first_level_floats / (std::int64_t{planes} * ring * width * floats_a_line);
        vectors = equal_piece(vectors, std::max(1, static_cast<int>(lines * floats_a_line / lanes)));
        pixel = ((round_up(vectors * lanes, floats_a_line) / floats_a_line) | 1) * floats_a_line;
        rows = equal_piece(rows, std::max(1, static_cast<int>(second_level_floats / 4 / (std::int64_t{columns} * channels))));
        cut();
    }
    /// At least so many blocks, where rows are enough for that, or where there is but one row tiles are.
    constexpr void share_among(std::int64_t images, int parts) {
        const std::int64_t all = images * z.results() * column_blocks;
        const int fewer = static_cast<int>(std::max<std::int64_t>(1, all * y.results() / parts));
        if (all * row_blocks < parts) rows = equal_piece(y.results(), fewer);
        if (y.results() == 1) columns = fewer_columns(x, columns, images * z.results(), parts, tap_tile_rows<true>);
        cut();
    }
    constexpr std::int64_t count(std::int64_t images) const { return images * z.results() * row_blocks * column_blocks; }
    constexpr std::int64_t copied_floats() const { return round_up(std::int64_t{planes} * ring * width * pixel, 16); }
    constexpr row_tiles tiles(int n) const { return {(n + x.phases() - 1) / x.phases(), tap_tile_rows<true>}; }

    /// Block i: results [x0, x1) of rows [y0, y1).
    struct block {
        std::int64_t image;
        int z, y0, y1, x0, x1;
    };
    /// And within it channels [col, col + there).
    struct piece {
        int col, there;
    };
    block at(std::int64_t i) const {
        block b{};
        b.x0 = static_cast<int>(i % column_blocks) * columns, i /= column_blocks;
        b.y0 = static_cast<int>(i % row_blocks) * rows, i /= row_blocks;
        b.z = static_cast<int>(i % z.results()), b.image = i / z.results();
        b.x1 = std::min(b.x0 + columns, x.results()), b.y1 = std::min(b.y0 + rows, y.results());
        return b;
    }
    template <class F>
    void each_piece(F f) const {
        for (int col = 0; col < channels; col += vectors * lanes) f(piece{col, std::min(channels - col, vectors * lanes)});
    }
    std::int64_t result_pixel(const block& b, int row) const {
        return ((b.image * z.results() + b.z) * y.results() + row) * x.results() + b.x0;
    }
    /// Brings a block's sources near, as they lie in memory: its pieces take some channels of each pixel.
    void read_block(const block& b, const float* from) const {
        const int first = std::max(0, y.lowest(b.y0)), last = std::min(y.highest(b.y1 - 1) + 1, y.sources());
        const int xa = std::clamp(x.lowest(b.x0), 0, x.sources()), xb = std::clamp(x.lowest(b.x0) + width, xa, x.sources());
        for (int p = first_plane(b); p < std::min(z.highest(b.z) + 1, z.sources()); ++p)
            for (int r = first; r < last; ++r)
                read_through(from + (((b.image * z.sources() + p) * y.sources() + r) * x.sources() + xa) * channels,
                             std::int64_t{xb - xa} * channels);
    }
    int first_plane(const block& b) const { return std::max(0, z.lowest(b.z)); }
    /// Where the copy of a plane's source row lies, which is there.
    std::int64_t copied_row(const block& b, int plane, int row) const {
        return (std::int64_t{plane - first_plane(b)} * ring + row % ring) * width * pixel;
    }
    /// Copies the rows that results of row `row` meet and that are not there, those from `next` on; gives what is next then.
    int copy_rows(const block& b, const piece& c, int row, int next, const float* from, float* to) const {
        const int end = std::min(y.highest(row) + 1, y.sources()), last_plane = std::min(z.highest(b.z) + 1, z.sources());
        const int xa = x.lowest(b.x0), before = std::clamp(-xa, 0, width), n = std::clamp(x.sources() - xa - before, 0, width - before);
        for (next = std::max(next, y.lowest(row)); next < end; ++next)
            for (int p = first_plane(b); p < last_plane; ++p) {
                const std::int64_t row_of_all = (b.image * z.sources() + p) * y.sources() + next;
                const float* x_at = from + (row_of_all * x.sources() + xa + before) * channels + c.col;
                float* at = to + copied_row(b, p, next);
                clear_floats(at, before * pixel);
                at += before * pixel;
                for (int i = 0; i < n; ++i, x_at += channels, at += pixel) copy_floats(x_at, c.there, at);
                clear_floats(at, (width - before - n) * pixel);
            }
        return std::max(next, end);
    }
    /// f(plane, source row, row of taps): all that results of row `row` meet, those that are there.
    template <class F>
    void each_row_of_taps(const block& b, int row, F f) const {
        for (int kz = 0, plane = 0; kz < z.k; ++kz)
            if (z.meets(b.z, kz, plane) && plane >= 0 && plane < z.sources())
                for (int ky = 0, at = 0; ky < y.k; ++ky)
                    if (y.meets(row, ky, at) && at >= 0 && at < y.sources()) f(plane, at, kz * y.k + ky);
    }

private:
    constexpr void cut() {
        row_blocks = (y.results() + rows - 1) / rows;
        column_blocks = (x.results() + columns - 1) / columns;
    }
    static constexpr int equal_piece(int n, int most) {   ///< the largest piece of n cut into as few equal ones as need be
        const int pieces = (n + most - 1) / most;
        return (n + pieces - 1) / pieces;
    }
};

} // namespace sinter::cpu
