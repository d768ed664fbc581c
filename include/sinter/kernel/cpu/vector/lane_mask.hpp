// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/simd.hpp>

/// Lanes in which something holds, for a branch to ask for. With 512 bits a comparison leaves them
/// as bits in a register of its own; g++ would make a vector of them first, where the comparison is
/// written as one of vectors, and test that.
namespace sinter::inline SINTER_TARGET::cpu {

#if defined(__AVX512F__)
typedef __mmask16 lane_mask;
/// Where a > b, or either is NaN.
SINTER_INLINE lane_mask exceeds(vf a, vf b) { return _mm512_cmpnle_ps_mask((__m512)a, (__m512)b); }
/// Where a > b, which is below 2^31.
SINTER_INLINE lane_mask exceeds(vu a, vu b) { return _mm512_cmpgt_epu32_mask((__m512i)a, (__m512i)b); }
/// Where a != b, or either is NaN.
SINTER_INLINE lane_mask differs(vf a, vf b) { return _mm512_cmpneq_ps_mask((__m512)a, (__m512)b); }
SINTER_INLINE lane_mask equals(vi a, vi b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
/// Of a comparison written as one of vectors.
SINTER_INLINE lane_mask mask_of(vi v) { return _mm512_test_epi32_mask((__m512i)v, (__m512i)v); }
SINTER_INLINE lane_mask either(lane_mask a, lane_mask b) { return static_cast<lane_mask>(a | b); }
SINTER_INLINE lane_mask both(lane_mask a, lane_mask b) { return static_cast<lane_mask>(a & b); }
SINTER_INLINE bool any(lane_mask m) { return m; }
SINTER_INLINE bool holds(lane_mask m, int lane) { return m >> lane & 1; }
SINTER_INLINE vf select(lane_mask m, vf yes, vf no) { return (vf)_mm512_mask_blend_ps(m, (__m512)no, (__m512)yes); }
#else
typedef vi lane_mask;
#if defined(__AVX__)
SINTER_INLINE lane_mask exceeds(vf a, vf b) { return (vi)compare_not_less_or_equal((__m256)a, (__m256)b); }
#else
SINTER_INLINE lane_mask exceeds(vf a, vf b) { return ~(a <= b); }
#endif
SINTER_INLINE lane_mask exceeds(vu a, vu b) { return (vi)(a | (b - a)) >> 31; }
SINTER_INLINE lane_mask differs(vf a, vf b) { return a != b; }
SINTER_INLINE lane_mask equals(vi a, vi b) { return a == b; }
SINTER_INLINE lane_mask mask_of(vi v) { return v; }
SINTER_INLINE lane_mask either(lane_mask a, lane_mask b) { return a | b; }
SINTER_INLINE lane_mask both(lane_mask a, lane_mask b) { return a & b; }
SINTER_INLINE bool any(lane_mask m) {
#if defined(__AVX__)
    return _mm256_movemask_ps((__m256)m);
#elif defined(__SSE__) && !defined(__CUDACC__)
    return __builtin_ia32_movmskps((vf)m);
#else
    std::int32_t all = 0;
    for (int i = 0; i < lanes; ++i) all |= m[i];
    return all;
#endif
}
SINTER_INLINE bool holds(const lane_mask& m, int lane) { return m[lane]; }
#endif
SINTER_INLINE lane_mask nan_lanes(vf v) { return exceeds(v, v); }

} // namespace sinter::cpu
