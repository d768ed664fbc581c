// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv_nd/convolution_axis.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The largest piece of n cut into as few as need be of at most `most`, all but the last of them
/// equal.
constexpr int equal_piece(int n, int most) {
    const int count = (n + most - 1) / most;
    return (n + count - 1) / count;
}

/// A row's n results in tiles of equal, even height; the last tile may reach beyond them.
struct row_tiles {
    int count, height;
    constexpr row_tiles(int n, int most)
        : count((n + most - 1) / most), height(count ? static_cast<int>(round_up((n + count - 1) / count, 2)) : 0) {}
    constexpr int covered() const { return count * height; }
};

/// Some rows and columns of one image's results in one plane: rows [y0, y1), columns [x0, x1).
struct result_block {
    std::int64_t image;
    int z, y0, y1, x0, x1;
    constexpr int columns() const { return x1 - x0; }
};

/// How a convolution's results are cut into blocks, which parts share.
template <bool Backward>
struct result_blocks {
    convolution_axis<Backward> z, y, x;
    int rows, columns, tile;   ///< a block's at most, and the results of a tile at most
    int row_blocks = 1, column_blocks = 1;

    constexpr result_blocks(const convolution_extents& c, int tile_)
        : z(c.axis[0]), y(c.axis[1]), x(c.axis[2]), rows(y.results()), columns(x.results()), tile(tile_) {}

    /// Columns, equal ones, that begin with a phase.
    constexpr void limit_columns(std::int64_t most) {
        if (columns > most)
            columns = static_cast<int>(round_up(equal_piece(columns, static_cast<int>(most)), x.phases()));
        column_blocks = (x.results() + columns - 1) / columns;
    }
    constexpr void limit_rows(std::int64_t most) {
        rows = equal_piece(y.results(), static_cast<int>(std::clamp<std::int64_t>(most, 1, y.results())));
        row_blocks = (y.results() + rows - 1) / rows;
    }
    /// A row's results as tiles of each phase cover them, and the sources that these overlap.
    constexpr int covered() const {
        return row_tiles((columns + x.phases() - 1) / x.phases(), tile).covered() * x.phases();
    }
    constexpr int covered_sources() const { return x.most_overlapped(covered()); }

    constexpr std::int64_t count(std::int64_t images) const {
        return images * z.results() * row_blocks * column_blocks;
    }
    constexpr std::int64_t images(std::int64_t results) const {
        return results / (std::int64_t{z.results()} * y.results() * x.results());
    }
    /// The result that column x0 of a row is, counted through all images.
    std::int64_t first_result(const result_block& b, int row) const {
        return ((b.image * z.results() + b.z) * y.results() + row) * x.results() + b.x0;
    }
    /// The first source of a row of a plane, so counted.
    std::int64_t first_source(const result_block& b, int plane, int row) const {
        return ((b.image * z.sources() + plane) * y.sources() + row) * x.sources();
    }
    /// f(block): this call's share of all. There are as many blocks as parts at least, where rows
    /// are enough for that, or where there is but one row tiles are.
    template <class F>
    void each_of_part(std::int64_t images, const call& c, F f) {
        if (const std::int64_t all = images * z.results() * column_blocks; all * row_blocks < c.parts)
            limit_rows(all * y.results() / c.parts);
        if (y.results() == 1) {
            const std::int64_t whole = std::int64_t{tile} * x.phases(),
                               fair = images * z.results() * x.results() / c.parts;
            columns = static_cast<int>(std::min<std::int64_t>(columns, std::max(whole, round_up(fair, whole))));
            column_blocks = (x.results() + columns - 1) / columns;
        }
        const std::int64_t n = count(images), end = share(n, c.part + 1, c.parts);
        for (std::int64_t i = share(n, c.part, c.parts); i < end; ++i) f(at(i));
    }

private:
    result_block at(std::int64_t i) const {
        result_block b{};
        b.x0 = static_cast<int>(i % column_blocks) * columns, i /= column_blocks;
        b.y0 = static_cast<int>(i % row_blocks) * rows, i /= row_blocks;
        b.z = static_cast<int>(i % z.results()), b.image = i / z.results();
        b.x1 = std::min(b.x0 + columns, x.results()), b.y1 = std::min(b.y0 + rows, y.results());
        return b;
    }
};

} // namespace sinter::cpu
