// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>

#include <sinter/kernel/cpu/simd.hpp>

/// Small integers in memory as bytes, in registers as a vector: the winners of a max-pool.
namespace sinter::cpu {

typedef std::uint8_t vb __attribute__((vector_size(lanes)));

/// `n` bytes (constant at the call); lanes from n on are zero.
SINTER_INLINE vi load_bytes(const std::uint8_t* p, int n = lanes) {
    vb b{};
    std::memcpy(&b, p, static_cast<std::size_t>(n));
    return __builtin_convertvector(b, vi);
}
SINTER_INLINE void store_bytes(std::uint8_t* p, vi v, int n = lanes) {
    const vb b = __builtin_convertvector(v, vb);
    std::memcpy(p, &b, static_cast<std::size_t>(n));
}

} // namespace sinter::cpu
