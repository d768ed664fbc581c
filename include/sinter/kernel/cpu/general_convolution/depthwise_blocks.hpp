// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/source_copies.hpp>
#include <sinter/kernel/cpu/general_convolution/tap_tile.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>

namespace sinter::cpu {

/// Channels [col, col + there) of a block.
struct channel_piece {
    int col, there;
};

/// How depthwise convolutions are cut: blocks of some rows and columns of one image's results, for which the second-level cache has room,
/// and within them pieces of some vectors of channels, row by row. The rows of sources that a row of results meets are copied when
/// they are first met, each in place of one that is met no more: so what is summed lies in the first-level cache, with zeros for the
/// padding at the rows' ends.
template <bool Backward>
struct depthwise_blocks : result_blocks<Backward> {
    using result_blocks<Backward>::x, result_blocks<Backward>::y, result_blocks<Backward>::z;
    int channels, vectors;                 ///< of all pieces, and of one at most
    int planes, ring, width;               ///< sources: rows of each plane that are there at once, and a row's pixels
    std::int64_t pixel;                    ///< floats of one: an odd number of lines, or pixels would meet in few of a cache's sets

    constexpr depthwise_blocks(const convolution_extents& c, int most_columns)
        : result_blocks<Backward>(c, tap_tile_rows<true>), channels(c.inputs), vectors((c.inputs + lanes - 1) / lanes),
          planes(z.most_met(1)), ring(y.most_met(1)), width(0), pixel(0) {
        this->limit_columns(std::int64_t{std::max(most_columns, 4 * x.reach() / x.stride)} * x.phases());
        width = this->covered_sources();
        const std::int64_t lines = first_level_floats / (std::int64_t{planes} * ring * width * floats_a_line);
        vectors = equal_piece(vectors, std::max(1, static_cast<int>(lines * floats_a_line / lanes)));
        pixel = ((round_up(vectors * lanes, floats_a_line) / floats_a_line) | 1) * floats_a_line;
        this->limit_rows(second_level_floats / 4 / (std::int64_t{this->columns} * channels));
    }
    constexpr std::int64_t copied_floats() const { return round_up(std::int64_t{planes} * ring * width * pixel, 16); }

    template <class F>
    void each_piece(F f) const {
        for (int col = 0; col < channels; col += vectors * lanes) f(channel_piece{col, std::min(channels - col, vectors * lanes)});
    }
    /// Brings a block's sources near, as they lie in memory: its pieces take some channels of each pixel.
    void read_block(const result_block& b, const float* from) const {
        const int first = std::max(0, y.lowest(b.y0)), last = std::min(y.highest(b.y1 - 1) + 1, y.sources());
        const int xa = x.lowest(b.x0);
        const auto [before, n] = x.there(xa, width);
        for (int p = first_plane(b); p < end_plane(b); ++p)
            for (int r = first; r < last; ++r) read_through(from + source(b, p, r, xa + before) * channels, std::int64_t{n} * channels);
    }
    /// Where the copy of a plane's source row lies, which is there.
    std::int64_t copied_row(const result_block& b, int plane, int row) const {
        return (std::int64_t{plane - first_plane(b)} * ring + row % ring) * width * pixel;
    }
    /// Copies the rows that results of row `row` meet and that are not there, those from `next` on; gives what is next then.
    int copy_rows(const result_block& b, const channel_piece& c, int row, int next, const float* from, float* to) const {
        const int end = std::min(y.highest(row) + 1, y.sources()), xa = x.lowest(b.x0);
        const auto [before, n] = x.there(xa, width);
        for (next = std::max(next, y.lowest(row)); next < end; ++next)
            for (int p = first_plane(b); p < end_plane(b); ++p)
                copy_row(from + source(b, p, next, xa + before) * channels + c.col, channels, c.there, before, n, width, pixel,
                         to + copied_row(b, p, next));
        return std::max(next, end);
    }

private:
    int first_plane(const result_block& b) const { return std::max(0, z.lowest(b.z)); }
    int end_plane(const result_block& b) const { return std::min(z.highest(b.z) + 1, z.sources()); }
    /// The source at that place, counted through all images.
    std::int64_t source(const result_block& b, int plane, int row, int column) const {
        return ((b.image * z.sources() + plane) * y.sources() + row) * x.sources() + column;
    }
};

} // namespace sinter::cpu
