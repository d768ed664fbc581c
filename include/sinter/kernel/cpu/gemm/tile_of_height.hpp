// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/tile.hpp>

/// The tiles of a height that is known at run time.
namespace sinter::inline SINTER_TARGET::cpu {

using tile_function = void (*)(const float* from, float* to, const float* x, std::int64_t row_step,
                               std::int64_t sum_step, const float* b, std::int64_t b_step, std::int64_t n,
                               std::int64_t tiles);
using ahead_function = decltype(&multiply_tile_ahead<tile_rows, false>);
template <bool Rows>
ahead_function ahead_of(bool large) {
    return large ? multiply_tile_ahead<tile_rows, Rows> : multiply_tile_ahead<small_tile_rows, Rows>;
}

/// Of a product whose terms lie one behind the other by a panel: what prefetches so many floats a
/// iteration, or for whole rows.
template <class = void>
ahead_function ahead_of_panel(bool large, std::int64_t step, bool rows) {
    if constexpr (iterations_at_once > 1)
        if (!rows && prefetches_seldom(step))
            return large ? multiply_tile_seldom<tile_rows> : multiply_tile_seldom<small_tile_rows>;
    return rows ? ahead_of<true>(large) : ahead_of<false>(large);
}

/// What prefetches listed lines, one an iteration.
template <class = void>
decltype(&multiply_tile_prefetching<tile_rows>) line_prefetching_tile_of(int height) {
    return height == tile_rows ? multiply_tile_prefetching<tile_rows> : multiply_tile_prefetching<small_tile_rows>;
}

template <int NR>
tile_function tile_of(int height) {
    return height == tile_rows ? multiply_tile<tile_rows, NR>
                               : height == small_tile_rows ? multiply_tile<small_tile_rows, NR> : multiply_tile<1, NR>;
}

} // namespace sinter::cpu
