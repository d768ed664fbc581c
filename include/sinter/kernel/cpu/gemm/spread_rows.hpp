// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>

#include <sinter/kernel/cpu/gemm/run_tiles.hpp>

/// Rows that lie pages apart, as those of 1024 units do: a tile reads the same columns of all its
/// rows, whose lines share so few places of the first-level cache that each throws the others out.
/// Such rows are multiplied from a copy in which they lie a line further apart.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr bool rows_may_overlap = tile_rows > first_level_ways;
/// From row to row of such a copy; as they lie, where none is needed.
constexpr std::int64_t spread_step(std::int64_t step) {
    return rows_may_overlap && step % a_page == 0 ? step + floats_a_line : step;
}

/// n floats each of some rows, to [rows][to_step].
inline const float* copy_rows(const float* from, std::int64_t step, std::int64_t rows, std::int64_t n, float* to,
                              std::int64_t to_step) {
    for (std::int64_t i = 0; i < rows; ++i)
        std::memcpy(to + i * to_step, from + i * step, sizeof(float) * static_cast<std::size_t>(n));
    return to;
}

/// Floats of a copy, which stays in the second-level cache while panels pass by. Of fewer tiles
/// weights would be read too often.
inline constexpr std::int64_t spread_floats = rows_may_overlap ? 1 << 17 : 0, least_spread_tiles = 2;

inline bool rows_overlap(const product& q) {
    return q.sum_step == 1 && spread_step(q.row_step) != q.row_step && row_cover(q.rows).large > 0 &&
           least_spread_tiles * tile_rows * spread_step(q.depth) <= spread_floats;
}

/// run(from, to) for those of the tiles [tile, end) that are tiles [first, last) of a panel of
/// `count`, panel by panel.
template <class F>
SINTER_INLINE void for_each_panel(std::int64_t count, std::int64_t tile, std::int64_t end, std::int64_t first,
                                  std::int64_t last, F run) {
    for (std::int64_t panel = tile / count * count; panel < end; panel += count) {   // its first tile
        const std::int64_t from = panel + first, to = panel + last;
        if (from < end && to > tile) run(from > tile ? from : tile, to < end ? to : end);
    }
}

/// The tiles [tile, end), numbered as by run_tiles, of such rows: some tiles at a time by all
/// panels.
template <class = void>
__attribute__((noinline)) inline void run_spread_rows(const product& q, const epilogue& f, const call& c,
                                                      std::int64_t tile, std::int64_t end) {
    alignas(64) float copy[spread_floats + 1];
    const row_cover cover(q.rows);
    product spread = q;
    spread.row_step = spread_step(q.depth);
    const std::int64_t most = spread_floats / (tile_rows * spread.row_step);
    for (std::int64_t first = 0; first < cover.count; first += most) {
        const std::int64_t last = cover.count - first < most ? cover.count : first + most, top = cover.first_row(first);
        const std::int64_t bottom = last < cover.count ? cover.begin(last) : q.rows;
        bool copied = false;
        for_each_panel(cover.count, tile, end, first, last, [&](std::int64_t from, std::int64_t to) {
            if (!copied) copy_rows(q.a + top * q.row_step, q.row_step, bottom - top, q.depth, copy, spread.row_step);
            copied = true;
            spread.a = copy - top * spread.row_step;   // a tile finds its rows by their numbers
            run_tiles(spread, f, c, from, to);
        });
    }
}

/// run_tiles or run_spread_rows.
template <class = void>
inline void run_any_tiles(const product& q, const epilogue& f, const call& c, std::int64_t tile, std::int64_t end) {
    if constexpr (rows_may_overlap)
        if (rows_overlap(q)) return run_spread_rows(q, f, c, tile, end);
    run_tiles(q, f, c, tile, end);
}

} // namespace sinter::cpu
