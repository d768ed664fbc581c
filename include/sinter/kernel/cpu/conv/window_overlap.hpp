// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <algorithm>

namespace sinter::inline SINTER_TARGET::cpu {

/// Of the windows [first, last) along an axis, S places apart, the first of them P places before
/// the image: those that find their tap k among its `extent` places.
struct window_overlap {
    int begin, end;
    constexpr window_overlap(int extent, int k, int S, int P, int first, int last)
        : begin(std::max(first, P > k ? (P - k + S - 1) / S : 0)),
          end(std::min(last, extent - 1 + P - k < 0 ? 0 : (extent - 1 + P - k) / S + 1)) {}
    constexpr bool any() const { return begin < end; }
    constexpr int count() const { return end - begin; }
};

} // namespace sinter::cpu
