// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/product.hpp>
#include <sinter/kernel/panels.hpp>

/// How rows are cut into tiles of the two heights that tile.hpp has, and columns into panels.
namespace sinter::inline SINTER_TARGET::cpu {

/// Rows as large tiles, then small ones, whose last may begin earlier and repeat rows; fewer than a
/// small tile: singly.
struct row_cover {
    std::int64_t rows, large, count;
    __attribute__((noinline)) explicit constexpr row_cover(std::int64_t n) : rows(n), large(0), count(n) {
        if (n < small_tile_rows) return;
        std::int64_t least = n;
        const std::int64_t most = n / tile_rows;
        for (std::int64_t l = most; l >= 0 && l > most - small_tile_rows && least > 0; --l) {
            const std::int64_t rest = n - l * tile_rows, small = (rest + small_tile_rows - 1) / small_tile_rows;
            if (const std::int64_t waste = small * small_tile_rows - rest; waste < least) {
                least = waste;
                large = l;
                count = l + small;
            }
        }
    }
    constexpr int height(std::int64_t t) const {
        return t < large ? tile_rows : rows < small_tile_rows ? 1 : small_tile_rows;
    }
    constexpr std::int64_t begin(std::int64_t t) const {   ///< first row that is new in tile t
        return t < large ? t * tile_rows : large * tile_rows + (t - large) * height(t);
    }
    constexpr std::int64_t
    first_row(std::int64_t t) const {   ///< of tile t, which the tile before has where rows are short of one
        const std::int64_t b = begin(t), h = height(t);
        return b + h <= rows ? b : rows - h;
    }
};

/// What is known of the results in the columns [j0, j0 + w) of a product, `there` of which it has,
/// before a tile is placed there.
inline finished panel_results(const product& q, std::int64_t j0, int w, int there) {
    const std::int64_t off_step = q.packed_result ? w : q.result_step ? q.result_step : q.columns;
    return {no_sum, 0, q.packed_result ? w : there, w, q.off + (q.packed_result ? j0 * q.rows : j0), off_step, q.row,
            q.col + static_cast<int>(j0)};
}
/// The place of tile t and its sums, without the rows that the tile before has. The panel's results
/// begin at `panel_off`.
SINTER_INLINE void place_tile(finished& done, const product& q, const row_cover& cover, std::int64_t t,
                              const float* sums, std::int64_t panel_off) {
    const std::int64_t begin = cover.begin(t), row = cover.first_row(t);
    done.sums = sums + (begin - row) * done.width;
    done.rows = static_cast<int>(row + cover.height(t) - begin);
    done.off = panel_off + begin * done.off_step;
    done.row = q.row + begin;
}

/// Calls tile(height, first row) for tiles of all rows; the height is a constant.
template <class F>
SINTER_INLINE void for_each_tile(std::int64_t rows, F tile) {
    const row_cover cover(rows);
    for (std::int64_t t = 0; t < cover.count; ++t) {
        const int height = cover.height(t);
        const std::int64_t i = cover.begin(t) + height <= rows ? cover.begin(t) : rows - height;
        if (height == tile_rows) tile(std::integral_constant<int, tile_rows>{}, i);
        else if (height == small_tile_rows) tile(std::integral_constant<int, small_tile_rows>{}, i);
        else tile(std::integral_constant<int, 1>{}, i);
    }
}

/// How many tiles a product has.
constexpr std::int64_t tiles_of(const product& q, const row_cover& cover) {
    return cover.count * ((q.columns + panel_width - 1) / panel_width);
}
inline std::int64_t tiles_of(const product& q) { return tiles_of(q, row_cover(q.rows)); }

/// Which of the tiles [tile, end) make up whole panels of full width, a multiple of `several` of
/// them.
struct panel_groups {
    std::int64_t first, end;            ///< tiles
    std::int64_t column, end_column;
    panel_groups(const product& q, std::int64_t tile, std::int64_t last, int several) {
        const std::int64_t count = row_cover(q.rows).count, p = (tile + count - 1) / count;
        std::int64_t e = last / count < q.columns / panel_width ? last / count : q.columns / panel_width;
        e = e > p ? p + (e - p) / several * several : p;
        first = e > p ? p * count : tile;
        end = e > p ? e * count : tile;
        column = p * panel_width;
        end_column = e * panel_width;
    }
};

} // namespace sinter::cpu
