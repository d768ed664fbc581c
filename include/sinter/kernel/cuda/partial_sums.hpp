// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/row_walk.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// A lane's share of the sum of one column's partial sums, `columns` apart; the lanes' shares then
/// meet in a butterfly.
SINTER_HOST_DEVICE float lane_sum(const float* partial, std::int64_t columns, int parts, int lane) {
    float sum = 0.f;
    for (int i = lane; i < parts; i += warp_lanes) sum += partial[i * columns];
    return sum;
}

/// The whole of it, on the host.
inline float whole_sum(const float* partial, std::int64_t columns, int parts) {
    float v[warp_lanes], next[warp_lanes];
    for (int l = 0; l < warp_lanes; ++l) v[l] = lane_sum(partial, columns, parts, l);
    for (int h = warp_lanes / 2; h; h /= 2) {
        for (int l = 0; l < warp_lanes; ++l) next[l] = v[l] + v[l ^ h];
        for (int l = 0; l < warp_lanes; ++l) v[l] = next[l];
    }
    return v[0];
}

} // namespace sinter::gpu
