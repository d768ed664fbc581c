// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/result_blocks.hpp>
#include <sinter/kernel/cpu/general_convolution/window_tile.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>

namespace sinter::cpu {

/// How depthwise convolutions are cut: the rows of sources that a row of a block's results meets stay in the second-level cache until the
/// next row has met them.
template <bool Backward>
constexpr result_blocks<Backward> depthwise_blocks(const convolution_extents& c) {
    result_blocks<Backward> b(c, window_results);
    const std::int64_t met = std::int64_t{b.z.most_met(1)} * b.y.most_met(1) * c.inputs;
    b.limit_columns(b.x.phases() * std::max<std::int64_t>({second_level_floats / 2 / met / b.x.step(), 4 * b.x.reach() / b.x.stride,
                                                           window_results}));
    b.limit_rows(second_level_floats / 4 / (std::int64_t{b.columns} * c.inputs));
    return b;
}

} // namespace sinter::cpu
