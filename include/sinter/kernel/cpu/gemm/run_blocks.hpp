// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/spread_rows.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Floats of the left operand that stay in the second-level cache while panels pass by.
inline constexpr std::int64_t blocked_floats = 24576;

/// As run_tiles, where the right operand lies in panels: of a long left operand some rows at a
/// time, which come from afar once and not for each panel.
template <class = void>
__attribute__((noinline)) inline void run_blocks(const product& q, const epilogue& f, const call& c, std::int64_t tile,
                                                 std::int64_t end) {
    const std::int64_t count = row_cover(q.rows).count, block = blocked_floats / (tile_rows * q.depth);
    if (block >= count || block * tile_rows < 2 * panel_width || end - tile <= count)
        return run_any_tiles(q, f, c, tile, end);
    for (std::int64_t first = 0; first < count; first += block)
        for_each_panel(count, tile, end, first, first + block < count ? first + block : count,
                       [&](std::int64_t from, std::int64_t to) { run_tiles(q, f, c, from, to); });
}

} // namespace sinter::cpu
