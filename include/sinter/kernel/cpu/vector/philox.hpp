// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/simd.hpp>

/// Random bits for a vector of indices: base/philox.hpp, lane by lane.
namespace sinter::cpu {

typedef std::uint64_t vu64 __attribute__((vector_size(4 * lanes)));

/// The 64-bit products of m and the lower halves of a: the only multiplication that wide which processors have.
SINTER_INLINE vu64 multiply_low(vu64 a, std::uint32_t m) {
#if defined(__AVX512F__)
    return (vu64)_mm512_maskz_mul_epu32(0xff, (__m512i)a, _mm512_set1_epi32(static_cast<int>(m)));
#elif defined(__AVX2__)
    return (vu64)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi32(static_cast<int>(m)));
#elif defined(__SSE2__)
    return (vu64)_mm_mul_epu32((__m128i)a, (__m128i)(vu{} + m));
#else
    return (a & 0xffffffffu) * std::uint64_t{m};
#endif
}

/// Counters of every other lane. Only the lower half of each 64 bits counts: a product's is used where it lies, its upper half
/// shifted down, and what else stands above is never asked for.
struct half_counters {
    vu64 word[4];

    SINTER_INLINE void round(std::uint32_t k0, std::uint32_t k1) {
        const vu64 a = multiply_low(word[0], 0xD2511F53u), b = multiply_low(word[2], 0xCD9E8D57u);
        word[0] = (b >> 32) ^ (word[1] ^ std::uint64_t{k0});
        word[1] = b;
        word[2] = (a >> 32) ^ (word[3] ^ std::uint64_t{k1});
        word[3] = a;
    }
};

/// Word 0 of philox4x32({index, index_hi, low and high half of counter_hi}, key) in each lane: 32 uniform bits, the same as
/// philox_at(key, index, counter_hi).word[0].
SINTER_INLINE vu philox_bits(std::uint64_t key, std::uint64_t counter_hi, vu index, vu index_hi = vu{}) {
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    const vu64 w2 = vu64{} + (counter_hi & 0xffffffffu), w3 = vu64{} + (counter_hi >> 32);
    half_counters even{(vu64)index, (vu64)index_hi, w2, w3}, odd{(vu64)index >> 32, (vu64)index_hi >> 32, w2, w3};
    for (int round = 0; round < 10; ++round) {
        even.round(k0, k1);
        odd.round(k0, k1);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (vu)((even.word[0] & 0xffffffffu) | (odd.word[0] << 32));
}

} // namespace sinter::cpu
