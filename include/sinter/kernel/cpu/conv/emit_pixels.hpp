// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/simd.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Hands the body one vector of each of n pixels, `step` floats apart from `from` on; `Valid`
/// channels from col on are left. A body that sums columns keeps the sums in registers from pixel
/// to pixel: by way of memory each would wait for the last.
template <class Body, int Valid>
SINTER_INLINE void emit_pixels(const float* from, int step, int n, std::int64_t off, std::int64_t off_step,
                               std::int64_t pixel, int col, const call& c) {
    if constexpr (Valid > 0 && 2 * Valid <= lanes)
        if constexpr (requires { requires Body::alike; })
            if (constexpr int several = lanes / Valid; step == Valid && off_step == Valid && n >= several) {
                const int whole = n / several * several;
                Body::template several_rows<Valid>(from, whole, off, pixel, c);
                if (n == whole) return;
                n -= whole, from += whole * step, off += whole * off_step, pixel += whole;
            }
    if constexpr (requires { Body::template vectors<true>(from, step, n, Valid, off, off_step, pixel, col, c); })
        Body::template vectors<(Valid >= lanes)>(from, step, n, Valid, off, off_step, pixel, col, c);
    else
        for (int i = 0; i < n; ++i, from += step, off += off_step) {
            if constexpr (Valid >= lanes) Body::vector(load(from), off, pixel + i, col, c);
            else Body::vector(load(from), Valid, off, pixel + i, col, c);
        }
}

} // namespace sinter::cpu
