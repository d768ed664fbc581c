// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sinter::inline SINTER_ORDINARY::data {

/// to[i] = from[i] / 255 for n bytes.
SINTER_APART void shares_of_bytes(const std::uint8_t* from, float* to, std::size_t n);

#if SINTER_BODIES
namespace detail {
using sixteen_bytes = std::uint8_t __attribute__((vector_size(16)));

using four_integers = std::int32_t __attribute__((vector_size(16)));

using four_floats = float __attribute__((vector_size(16)));

/// to[i] = v[i] / 255, rounded as a division is, without one: 1 / 255 is two numbers, the first of
/// them so short that its product with a byte is exact.
inline void shares_of_four(four_integers v, float* to) {
    constexpr float most = 0x1.01p-8f, rest = static_cast<float>(1.0 / 255 - static_cast<double>(most));
    const four_floats f = __builtin_convertvector(v, four_floats);
    const four_floats share = f * rest + f * most;
    std::memcpy(to, &share, sizeof share);
}

/// Widened by interleaving with zeros, as every processor can: g++ 12 makes scalar code of a
/// conversion from bytes.
inline void shares_of_sixteen(const std::uint8_t* from, float* to) {
    sixteen_bytes b;
    std::memcpy(&b, from, sizeof b);
    const sixteen_bytes zero{};
    const auto low = __builtin_shufflevector(b, zero, 0, 16, 1, 16, 2, 16, 3, 16, 4, 16, 5, 16, 6, 16, 7, 16);
    const auto high = __builtin_shufflevector(b, zero, 8, 16, 9, 16, 10, 16, 11, 16, 12, 16, 13, 16, 14, 16, 15, 16);
    const auto widen_low = [&](sixteen_bytes pairs) {
        return (four_integers)__builtin_shufflevector(pairs, zero, 0, 1, 16, 16, 2, 3, 16, 16, 4, 5, 16, 16, 6, 7, 16,
                                                      16);
    };
    const auto widen_high = [&](sixteen_bytes pairs) {
        return (four_integers)__builtin_shufflevector(pairs, zero, 8, 9, 16, 16, 10, 11, 16, 16, 12, 13, 16, 16, 14, 15,
                                                      16, 16);
    };
    shares_of_four(widen_low(low), to);
    shares_of_four(widen_high(low), to + 4);
    shares_of_four(widen_low(high), to + 8);
    shares_of_four(widen_high(high), to + 12);
}
} // namespace detail

SINTER_APART void shares_of_bytes(const std::uint8_t* from, float* to, std::size_t n) {
    constexpr std::size_t at_once = 16;
    std::size_t i = 0;
    for (; i + at_once <= n; i += at_once) detail::shares_of_sixteen(from + i, to + i);
    if (i == n) return;
    std::uint8_t last[at_once] = {};
    float shares[at_once];
    std::memcpy(last, from + i, n - i);
    detail::shares_of_sixteen(last, shares);
    std::memcpy(to + i, shares, (n - i) * sizeof(float));
}
#endif

} // namespace sinter::data
