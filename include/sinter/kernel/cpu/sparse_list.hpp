// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector_block.hpp>

/// Compressed lists of (offset, value): what is left of a vector whose exact zeros need no arithmetic.
namespace sinter::cpu {

/// Appends the lanes that `keep` marks, in their order. Up to `lanes` elements from the end on are overwritten: the
/// arrays need that much room. Returns the new length.
SINTER_INLINE int append(std::int32_t* offset, float* value, int n, vi o, vf v, vi keep) {
#if defined(__AVX512F__)
    const __mmask16 m = _mm512_test_epi32_mask((__m512i)keep, (__m512i)keep);
    _mm512_storeu_si512(offset + n, _mm512_maskz_compress_epi32(m, (__m512i)o));
    _mm512_storeu_ps(value + n, _mm512_maskz_compress_ps(m, (__m512)v));
    return n + __builtin_popcount(m);
#elif defined(__AVX2__) && defined(__BMI2__)
    const unsigned m = static_cast<unsigned>(_mm256_movemask_ps((__m256)keep));
    const std::uint64_t bytes = _pdep_u64(m, 0x0101010101010101u) * 255u;
    const __m256i order =
        _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(_pext_u64(0x0706050403020100u, bytes))));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(offset + n), _mm256_permutevar8x32_epi32((__m256i)o, order));
    _mm256_storeu_ps(value + n, _mm256_permutevar8x32_ps((__m256)v, order));
    return n + __builtin_popcount(m);
#else
    for (int i = 0; i < lanes; ++i) {
        offset[n] = o[i];
        value[n] = v[i];
        n -= keep[i];
    }
    return n;
#endif
}

/// c[r][v] += value[e] * x[offset[e] + r * RowStep + v * Step] for the n elements of a list: every multiply-add reads
/// its vector from memory, so x should lie in the first-level cache.
template <int V, int RowStep, int Step, int N, int... I>
SINTER_INLINE void walk(vf (&c)[N], const std::int32_t* offset, const float* value, int n, const float* x,
                        std::integer_sequence<int, I...>) {
    for (int e = 0; e < n; ++e) {
        const vf a = splat(value[e]);
        const float* p = x + offset[e];
        ((c[I] = fma(a, load(p + I / V * RowStep + I % V * Step), c[I])), ...);
    }
}
template <int V, int RowStep, int Step, int N>
SINTER_INLINE void walk(vf (&c)[N], const std::int32_t* offset, const float* value, int n, const float* x) {
    walk<V, RowStep, Step>(c, offset, value, n, x, indices<N>{});
}

/// Accumulators of a walk: all registers but a few.
inline constexpr int walk_registers = registers >= 32 ? 24 : 12;

} // namespace sinter::cpu
