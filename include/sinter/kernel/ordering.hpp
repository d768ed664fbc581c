// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/host_device.hpp>

/// The order of floats that sorting and argmax go by, the same on every device: NaN is larger than
/// everything.
namespace sinter::inline SINTER_TARGET::runtime {

SINTER_HOST_DEVICE bool stands_before(float a, float b, bool descending) {
    if (descending) return a > b || (a != a && b == b);
    return a < b || (b != b && a == a);
}
/// Does b displace a, which came first, as the largest (or the smallest)? A NaN displaces
/// everything but a NaN.
SINTER_HOST_DEVICE bool displaces(float b, float a, bool smallest) {
    if (a != a) return false;
    return b != b || (smallest ? b < a : b > a);
}
/// Towards zero into what an int32 holds, NaN to 0.
SINTER_HOST_DEVICE std::int32_t int32_of(float a) {
    if (!(a > -2147483648.f)) return a == a ? -2147483647 - 1 : 0;
    return a >= 2147483648.f ? 2147483647 : static_cast<std::int32_t>(a);
}
/// The same into [0, n).
SINTER_HOST_DEVICE std::int32_t index_below(float a, std::int64_t n) {
    if (!(a > 0.f)) return 0;
    return a >= static_cast<float>(n - 1) ? static_cast<std::int32_t>(n - 1) : static_cast<std::int32_t>(a);
}
/// Row-major number of place [k] in extents d; what lies outside is moved to the ends.
SINTER_HOST_DEVICE std::int32_t place_number(const std::int32_t* at, const std::int64_t* d, std::int64_t k) {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < k; ++i) n = n * d[i] + (at[i] < 0 ? 0 : at[i] < d[i] ? at[i] : d[i] - 1);
    return static_cast<std::int32_t>(n);
}

} // namespace sinter::runtime
