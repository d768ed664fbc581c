// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/rounding.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>

/// Pairs of bfloat16 in the 32 bits of a float: what is summed first is the low half. They are
/// moved as floats and never computed with as such, since their bits may be those of a denormal or
/// of NaN.
namespace sinter::inline SINTER_TARGET::cpu {

SINTER_INLINE vf low_of_pairs(vu p) { return (vf)(p << 16); }
SINTER_INLINE vf high_of_pairs(vu p) { return (vf)(p & 0xffff0000u); }

/// sum + the products of a's and b's low halves + those of the high ones, in float32, lane by lane.
/// AVX512_BF16 does it by one instruction. It takes denormals for zeros, whatever the modes are,
/// and may round otherwise than two multiply-adds: results of machines that have it are not those
/// of others to the bit.
SINTER_INLINE vf dot_pairs(vf sum, vu a, vu b) {
#if defined(__AVX512BF16__)
    return (vf)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#else
    return fma(high_of_pairs(a), high_of_pairs(b), fma(low_of_pairs(a), low_of_pairs(b), sum));
#endif
}

/// Both rounded: `first` into the low halves.
SINTER_INLINE vf pairs_of(vf first, vf second) {
    return (vf)((vu)round_to_bfloat16(first) >> 16 | (vu)round_to_bfloat16(second));
}

/// to[t] = the pair of from[2 t] and from[2 t + 1], t < (n + 1) / 2; zero for what is not there.
/// Writes whole vectors.
SINTER_INLINE void pair_row(const float* from, std::int64_t n, float* to) {
    for (std::int64_t i = 0; i < n; i += 2 * lanes, to += lanes) {
        const auto part = [&](std::int64_t at) SINTER_ALWAYS {
            return n - at >= lanes ? load(from + at) : n > at ? load(from + at, static_cast<int>(n - at)) : zero();
        };
        const vf a = part(i), b = part(i + lanes);
        store(to, pairs_of(shuffle<every_second<0>>(a, b), shuffle<every_second<1>>(a, b)));
    }
}

} // namespace sinter::cpu
