// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/bytes.hpp>
#include <cstddef>

namespace sinter::inline SINTER_TARGET::cpu {

/// to[i] = from[i] / 255 for n bytes, rounded as a division is, without one: 1 / 255 is two numbers, the first of them so short that
/// its product with a byte is exact.
SINTER_ONCE inline void shares_of_bytes(const std::uint8_t* from, float* to, std::size_t n) {
    constexpr float most = 0x1.01p-8f, rest = static_cast<float>(1.0 / 255 - static_cast<double>(most));
    const auto shares = [](const std::uint8_t* bytes) SINTER_ALWAYS {
        const vf v = __builtin_convertvector(load_bytes(bytes), vf);
        return v * splat(rest) + v * splat(most);
    };
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) store(to + i, shares(from + i));
    if (i == n) return;
    std::uint8_t last[lanes] = {};
    std::memcpy(last, from + i, n - i);
    store(to + i, shares(last), static_cast<int>(n - i));
}

} // namespace sinter::cpu
