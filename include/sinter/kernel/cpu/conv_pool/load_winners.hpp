// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/bytes.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The gradients of pooled channels from `o` on, out of Channels, and, if asked for, the places in
/// their windows that won; zeros behind the last.
template <int Channels, bool Places = true>
SINTER_INLINE void load_winners(const float* g, const std::uint8_t* winner, int o, vf& gradient, vi& place) {
    if (Channels % lanes == 0 || o + lanes <= Channels) {
        gradient = load(g + o);
        if constexpr (Places) place = load_bytes(winner + o);
    } else {
        gradient = load(g + o, Channels % lanes);
        if constexpr (Places) place = load_bytes<(Channels % lanes)>(winner + o);
    }
}

} // namespace sinter::cpu
