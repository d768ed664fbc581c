// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/simd.hpp>

/// What the elementary functions take from a float's representation.
namespace sinter::cpu {

SINTER_INLINE vf absolute(vf x) { return (vf)((vi)x & splat(std::int32_t{0x7fffffff})); }
/// The size of `magnitude` (not negative) with the sign of `sign`.
SINTER_INLINE vf with_sign(vf magnitude, vf sign) {
    return (vf)((vi)magnitude | ((vi)sign & splat(std::int32_t(0x80000000u))));
}
/// 2^n, -126 <= n <= 127.
SINTER_INLINE vf power_of_two(vi n) { return (vf)((n + 127) << 23); }

/// Does the comparison hold in any lane?
SINTER_INLINE bool any(vi mask) {
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask);
#elif defined(__AVX__)
    return _mm256_movemask_ps((__m256)mask);
#else
    std::int32_t all = 0;
    for (int i = 0; i < lanes; ++i) all |= mask[i];
    return all;
#endif
}
/// `y` but f(x) in the marked lanes, one by one: for arguments so rare that no vector code is worth its room.
template <class F>
__attribute__((noinline, cold)) void patch_lanes(const vf& x, const vi& marked, vf& y, F f) {
    for (int i = 0; i < lanes; ++i)
        if (marked[i]) y[i] = static_cast<float>(f(x[i]));
}

/// Coefficients from the highest power down to the constant, by Horner's rule.
SINTER_INLINE vf polynomial(vf, vf sum) { return sum; }
template <class... C>
SINTER_INLINE vf polynomial(vf x, vf sum, float next, C... rest) {
    return polynomial(x, fma(sum, x, splat(next)), rest...);
}

} // namespace sinter::cpu
