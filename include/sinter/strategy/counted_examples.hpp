// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/port_info.hpp>
#include <sinter/graph/target_list.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// Does example `e` count? `all`: the loss's targets, whose values are at `ports`.
inline bool example_counts(const target_list& all, const port_info* targets, int outputs, const float* const* ports,
                   std::int64_t e) {
    int hidden = 0;
    for (int i = 0; i < all.n; ++i) {
        if (all.at[i].hides == hidden_part::none) continue;
        const port_info& p = targets[i];
        const std::int64_t n = p.s.size();
        bool zero = true;
        if (p.weight) {
            for (std::int64_t k = 0; k < n; ++k) zero = zero && ports[i][e * n + k] == 0.f;
        } else {
            const auto* const labels = reinterpret_cast<const std::int32_t*>(ports[i]);
            for (std::int64_t k = 0; k < n; ++k) zero = zero && labels[e * n + k] == all.at[i].also;
        }
        if (zero && all.at[i].hides == hidden_part::everything) return false;
        if (zero) hidden |= 1 << all.at[i].output;
    }
    return hidden != (1 << outputs) - 1;
}

} // namespace sinter::session_parts
