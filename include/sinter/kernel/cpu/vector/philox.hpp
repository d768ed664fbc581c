// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/simd.hpp>

/// Random bits for a vector of indices: base/philox.hpp, lane by lane.
namespace sinter::cpu {

typedef std::uint64_t vu64 __attribute__((vector_size(4 * lanes)));

struct product_words {
    vu high, low;
};
/// The 64-bit products of a and m, whose even lanes the processor multiplies at once, then the odd ones.
SINTER_INLINE product_words multiply_wide(vu a, std::uint32_t m) {
#if defined(__AVX512F__)
    const __m512i f = _mm512_set1_epi32(static_cast<int>(m));
    const vu64 even = (vu64)_mm512_maskz_mul_epu32(0xff, (__m512i)a, f),
               odd = (vu64)_mm512_maskz_mul_epu32(0xff, (__m512i)((vu64)a >> 32), f);
#elif defined(__AVX2__)
    const __m256i f = _mm256_set1_epi32(static_cast<int>(m));
    const vu64 even = (vu64)_mm256_mul_epu32((__m256i)a, f), odd = (vu64)_mm256_mul_epu32((__m256i)((vu64)a >> 32), f);
#else
    const vu64 even = ((vu64)a & 0xffffffffu) * std::uint64_t{m}, odd = ((vu64)a >> 32) * std::uint64_t{m};
#endif
    return {(vu)((even >> 32) | (odd & 0xffffffff00000000u)), (vu)((even & 0xffffffffu) | (odd << 32))};
}

/// Word 0 of philox4x32({index, index_hi, low and high half of counter_hi}, key) in each lane: 32 uniform bits, the same as
/// philox_at(key, index, counter_hi).word[0].
SINTER_INLINE vu philox_bits(std::uint64_t key, std::uint64_t counter_hi, vu index, vu index_hi = vu{}) {
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    vu w0 = index, w1 = index_hi, w2 = vu{} + static_cast<std::uint32_t>(counter_hi),
       w3 = vu{} + static_cast<std::uint32_t>(counter_hi >> 32);
    for (int round = 0; round < 10; ++round) {
        const product_words a = multiply_wide(w0, 0xD2511F53u), b = multiply_wide(w2, 0xCD9E8D57u);
        w0 = b.high ^ w1 ^ k0;
        w1 = b.low;
        w2 = a.high ^ w3 ^ k1;
        w3 = a.low;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return w0;
}

} // namespace sinter::cpu
