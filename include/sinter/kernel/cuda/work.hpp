// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/kernel/cuda/body_call.hpp>
#include <sinter/kernel/cuda/walk_extents.hpp>
#include <sinter/compiler/emit/spec.hpp>

/// A launch with its run-time numbers filled in, and the extents of the walk that follows from
/// them.
namespace sinter::inline SINTER_TARGET::gpu {

struct work {
    float* const* p = nullptr;          ///< operands and results: the root's own first, then the body's
    const std::int64_t* e = nullptr;    ///< the launch's extents
    const float* k = nullptr;           ///< its constants
    const spec* s = nullptr;
    const std::uint64_t* code = nullptr;   ///< the spec's instructions, as the program has them
    const step_state* step = nullptr;   ///< in the device's memory
    float* scratch = nullptr;
    std::int64_t iteration = 0;              ///< of the loop that the launch is in
    std::int64_t m = 0;                 ///< rows, elements, images or matrices, as the launch counts them
    const std::int32_t* list = nullptr; ///< of a walk over a list's lines: how many rows it has, in the device's memory
    int list_width = 0;                 ///< floats of a row of it
};

/// Rows of a walk over a list's lines, of which the device finds how many there are: whoever has
/// how long a list, its sums have the same order.
inline constexpr std::int64_t unknown_rows = std::int64_t{1} << 40;

/// How many shares the rows are dealt out to: enough threads to fill a large device, but no more
/// partial sums than a second kernel adds up quickly, of which one with many rows has many for
/// each. A function of the extents alone, so that sums have one order everywhere.
constexpr std::int64_t parts_of(walk_extents w, bool by_warps, bool has_sums) {
    constexpr std::int64_t few = 512, many = 4096, rows_each = 8;
    const std::int64_t most_threads = has_sums ? 1 << 17 : 1 << 18, wide = by_warps ? 32 : w.columns;
    std::int64_t most = most_threads / wide;
    if (has_sums) most = std::min({most, many, std::max(few, w.rows / rows_each)});
    return std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(w.rows, 1));
}

} // namespace sinter::gpu
