// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/simd.hpp>

/// Quotients without the divider, which is slow and not pipelined: the processor's estimate and one
/// Newton step. For arguments whose size lies in [2^-125, 2^125]; zero and infinity give NaN.
/// Elsewhere divide.
namespace sinter::inline SINTER_TARGET::cpu {

/// About 1 / x, to at least 11 bits.
SINTER_INLINE vf estimate_reciprocal(vf x) {
#if defined(__AVX512F__)
    return (vf)_mm512_maskz_rcp14_ps(all_lanes, (__m512)x);
#elif defined(__AVX__)
    return (vf)_mm256_rcp_ps((__m256)x);
#else
    return 1.f / x;
#endif
}

/// 1 / x within 2 ULP (4 without fused multiply-add).
SINTER_INLINE vf reciprocal(vf x) {
    const vf y = estimate_reciprocal(x);
    return fma(y, fma(-x, y, splat(1.f)), y);
}

/// a / x within 2 ULP (4 without fused multiply-add), where neither a / x nor a overflow or are
/// denormal.
SINTER_INLINE vf quotient(vf a, vf x) {
    const vf y = estimate_reciprocal(x), q = a * y;
    return fma(y, fma(-x, q, a), q);
}

/// 1 / sqrt(x) within 3 ULP, x > 0 (4 without fused multiply-add).
SINTER_INLINE vf reciprocal_sqrt(vf x) {
#if defined(__AVX512F__)
    const vf y = (vf)_mm512_maskz_rsqrt14_ps(all_lanes, (__m512)x);
#elif defined(__AVX__)
    const vf y = (vf)_mm256_rsqrt_ps((__m256)x);
#else
    return 1.f / sqrt(x);
#endif
#if defined(__AVX__)
    const vf e = fma(-x * y, y, splat(1.f));
    return fma(y * 0.5f, e, y);
#endif
}

} // namespace sinter::cpu
