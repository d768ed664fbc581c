// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/result_blocks.hpp>
#include <sinter/kernel/cpu/conv_nd/window_tile.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// How depthwise convolutions are cut: the rows of sources that a row of a block's results overlaps
/// are still in a cache when the next row overlaps them.
template <bool Backward>
struct depthwise_blocks : result_blocks<Backward> {
    using result_blocks<Backward>::x, result_blocks<Backward>::y, result_blocks<Backward>::z;
    /// Are the arrays longer than the second-level cache? Then they come from memory most likely:
    /// rows are read as they lie there, and that cache keeps them, else the first.
    bool exceeds_second_level;

    constexpr depthwise_blocks(const convolution_extents& c, std::int64_t images)
        : result_blocks<Backward>(c, window_results),
          exceeds_second_level(images * (c.in_pixels() + c.out_pixels()) * c.inputs > second_level_floats) {
        const std::int64_t overlapped = std::int64_t{z.most_overlapped(1)} * y.most_overlapped(1) * x.step() * c.inputs;
        const std::int64_t cached = exceeds_second_level ? second_level_floats / 2 : first_level_floats * 3 / 4;
        const std::int64_t fits = cached / overlapped;
        const std::int64_t tiles = std::max<std::int64_t>(1, fits / window_results);
        const std::int64_t least = exceeds_second_level ? 4 * x.reach() / x.stride : 0;
        this->limit_columns(x.phases() * std::max<std::int64_t>(tiles * window_results, least));
        this->limit_rows(second_level_floats / 4 / (std::int64_t{this->columns} * c.inputs));
    }
};

} // namespace sinter::cpu
