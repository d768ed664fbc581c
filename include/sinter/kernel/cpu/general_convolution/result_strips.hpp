// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/cpu/general_convolution/convolution_axis.hpp>

/// A convolution's results are computed strip by strip: some rows of one image's results at a time, from a copy of the sources that
/// they meet, which has zeros for the padding at the rows' ends and stays in a cache.
namespace sinter::cpu {

/// A row's n results in tiles of equal, even height; the last tile may reach beyond them.
struct row_tiles {
    int count, height;
    constexpr row_tiles(int n, int most)
        : count((n + most - 1) / most), height(count ? static_cast<int>(round_up((n + count - 1) / count, 2)) : 0) {}
    constexpr int covered() const { return count * height; }
};

/// Columns of results for each of `parts` to have some, in whole tiles: no more than there were.
template <bool Backward>
constexpr int fewer_columns(const convolution_axis<Backward>& x, int columns, std::int64_t rows, int parts, int tile) {
    const std::int64_t whole = std::int64_t{tile} * x.phases(), fair = rows * x.results() / parts;
    return static_cast<int>(std::min<std::int64_t>(columns, std::max(whole, round_up(fair, whole))));
}

/// Which results a strip has, and the sources in its copy: planes [za, zb), rows [ya, yb) of each, all on the image, and a row's
/// from xa on, which may be in the padding.
struct result_strip {
    std::int64_t image;
    int z, y0, y1, x0, x1;
    int za, zb, ya, yb, xa;
};

template <bool Backward>
struct result_strips {
    convolution_axis<Backward> z, y, x;
    int columns, rows, tile;          ///< a strip's results, at most, and a tile's
    int planes, source_rows, width;   ///< and their sources
    int row_blocks = 1, column_blocks = 1;

    /// `pixel`, `result`: floats of a source in the copy and of a result, for either of which there is room for about `budget`; `tile`:
    /// results of a tile.
    constexpr result_strips(const convolution_extents& c, std::int64_t pixel, std::int64_t result, std::int64_t budget, int tile_)
        : z(c.axis[0]), y(c.axis[1]), x(c.axis[2]), columns(x.results()), rows(y.results()), tile(tile_),
          planes(std::min(z.most_met(1), z.sources())), source_rows(0), width(0) {
        const int phases = x.phases();
        // Long rows are cut, though not so short that the sources which two pieces share are many.
        const std::int64_t met = std::int64_t{planes} * std::min(y.most_met(1), y.sources()) * pixel;
        const std::int64_t fits = std::min(budget / met / x.step(), budget / result / phases);
        const std::int64_t most = phases * std::max({fits, std::int64_t{4} * x.reach() / x.stride, std::int64_t{2} * tile});
        if (most < columns) {
            const int pieces = static_cast<int>((columns + most - 1) / most);
            columns = static_cast<int>(round_up((columns + pieces - 1) / pieces, phases));
        }
        width = x.most_met(row_tiles((columns + phases - 1) / phases, tile).covered() * phases);
        const std::int64_t room = budget / (planes * std::int64_t{width} * pixel);
        const int met_rows = y.most_meeting(static_cast<int>(std::min<std::int64_t>(room, 2 * y.sources() + y.reach())));
        rows = static_cast<int>(std::clamp<std::int64_t>(std::min<std::int64_t>(met_rows, budget / (result * columns)), 1, y.results()));
        cut();
    }
    /// At least so many strips, where rows are enough for that, or where there is but one row tiles are.
    constexpr void share_among(std::int64_t images, int parts) {
        const std::int64_t planes_of_all = images * z.results();
        if (count(images) < parts) rows = static_cast<int>(std::max<std::int64_t>(1, planes_of_all * y.results() / parts));
        if (y.results() == 1) columns = fewer_columns(x, columns, planes_of_all, parts, tile);
        cut();
    }

    constexpr std::int64_t count(std::int64_t images) const { return images * z.results() * row_blocks * column_blocks; }
    constexpr std::int64_t pixels() const { return std::int64_t{planes} * source_rows * width; }

    result_strip at(std::int64_t i) const {
        result_strip s{};
        s.x0 = static_cast<int>(i % column_blocks) * columns;
        i /= column_blocks;
        s.y0 = static_cast<int>(i % row_blocks) * rows;
        i /= row_blocks;
        s.z = static_cast<int>(i % z.results());
        s.image = i / z.results();
        s.x1 = std::min(s.x0 + columns, x.results());
        s.y1 = std::min(s.y0 + rows, y.results());
        s.za = std::clamp(z.lowest(s.z), 0, z.sources());
        s.zb = std::clamp(z.highest(s.z) + 1, s.za, z.sources());
        s.ya = std::clamp(y.lowest(s.y0), 0, y.sources());
        s.yb = std::clamp(y.highest(s.y1 - 1) + 1, s.ya, y.sources());
        s.xa = x.lowest(s.x0);
        return s;
    }
    /// f(pixel of the copy, pixel of the image, how many of a row's `width` lie before it in the padding, how many are there): each
    /// row of a strip's copy.
    template <class F>
    void each_row(const result_strip& s, F f) const {
        const int first = std::clamp(-s.xa, 0, width), n = std::clamp(x.sources() - s.xa - first, 0, width - first);
        for (int p = s.za; p < s.zb; ++p)
            for (int r = s.ya; r < s.yb; ++r)
                f((std::int64_t{p - s.za} * source_rows + r - s.ya) * width,
                  ((s.image * z.sources() + p) * y.sources() + r) * x.sources() + s.xa + first, first, n);
    }

private:
    constexpr void cut() {
        row_blocks = (y.results() + rows - 1) / rows;
        rows = (y.results() + row_blocks - 1) / row_blocks;
        column_blocks = (x.results() + columns - 1) / columns;
        source_rows = std::min(y.most_met(rows), y.sources());
    }
};

} // namespace sinter::cpu
