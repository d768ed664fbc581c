// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/result_blocks.hpp>

/// A convolution's results are computed strip by strip: blocks of some rows of one image's results
/// at a time, from a copy of the sources that they overlap, which has zeros for the padding at the
/// rows' ends and stays in a cache.
namespace sinter::inline SINTER_TARGET::cpu {

/// A block of results with the sources in its copy: planes [za, zb), rows [ya, yb) of each, all on
/// the image, and a row's from xa on, which may be in the padding.
struct result_strip : result_block {
    int za, zb, ya, yb, xa;
};

template <bool Backward>
struct result_strips : result_blocks<Backward> {
    using result_blocks<Backward>::x, result_blocks<Backward>::y, result_blocks<Backward>::z;
    int planes, source_rows,
        width;   ///< a copy's at most; rows of a plane lie `width` pixels apart, planes `source_rows` rows

    /// `pixel`, `result`: floats of a source in the copy and of a result, for either of which there
    /// is room for about `budget`; `per_tile`: results of a tile.
    constexpr result_strips(const convolution_extents& c, std::int64_t pixel, std::int64_t result, std::int64_t budget,
                            int per_tile)
        : result_blocks<Backward>(c, per_tile), planes(std::min(z.most_overlapped(1), z.sources())), source_rows(0),
          width(0) {
        // Long rows are cut, though not so short that the sources which two pieces share are many.
        const std::int64_t overlapped = std::int64_t{planes} * std::min(y.most_overlapped(1), y.sources()) * pixel;
        const std::int64_t fits = std::min(budget / overlapped / x.step(), budget / result / x.phases());
        this->limit_columns(x.phases() *
                            std::max({fits, std::int64_t{4} * x.reach() / x.stride, std::int64_t{2} * per_tile}));
        width = this->covered_sources();
        const std::int64_t workspace = budget / (planes * std::int64_t{width} * pixel);
        const int overlapped_rows =
            y.most_overlapping(static_cast<int>(std::min<std::int64_t>(workspace, 2 * y.sources() + y.reach())));
        this->limit_rows(std::min<std::int64_t>(overlapped_rows, budget / (result * this->columns)));
        source_rows = std::min(y.most_overlapped(this->rows), y.sources());
    }
    constexpr std::int64_t pixels() const { return std::int64_t{planes} * source_rows * width; }

    result_strip strip_of(const result_block& b) const {
        const int za = std::clamp(z.lowest(b.z), 0, z.sources()), ya = std::clamp(y.lowest(b.y0), 0, y.sources());
        return {b,
                za,
                std::clamp(z.highest(b.z) + 1, za, z.sources()),
                ya,
                std::clamp(y.highest(b.y1 - 1) + 1, ya, y.sources()),
                x.lowest(b.x0)};
    }
    /// Where the copy of a plane's source row lies, in pixels.
    std::int64_t copied_row(const result_strip& s, int plane, int row) const {
        return (std::int64_t{plane - s.za} * source_rows + row - s.ya) * width;
    }
    /// f(pixel of the copy, pixel of the image, how many of a row's `width` lie before it in the
    /// padding, how many are there): each row of a strip's copy.
    template <class F>
    void each_row(const result_strip& s, F f) const {
        const auto [before, n] = x.there(s.xa, width);
        for (int p = s.za; p < s.zb; ++p)
            for (int r = s.ya; r < s.yb; ++r)
                f(copied_row(s, p, r), this->first_source(s, p, r) + s.xa + before, before, n);
    }
};

} // namespace sinter::cpu
