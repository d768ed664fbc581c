// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>

namespace sinter::cpu {

/// x = n ln 2 + r, |r| <= ln 2 / 2, and e^r - 1.
struct reduced {
    vi n;
    vf expm1;
};
/// For |x| <= 105. The reduction is exact even without fused multiply-add: ln 2's first part has 9 bits.
SINTER_INLINE reduced reduce_exp(vf x) {
    const vf magic = splat(12582912.f);   // 1.5 * 2^23: adding it rounds to an integer and leaves that in the low bits
    const vf shifted = fma(x, splat(1.44269504f), magic), n = shifted - magic;
    const vf r = fma(n, splat(2.12194440e-4f), fma(n, splat(-0.693359375f), x));
    const vf p = polynomial(r, splat(0.00138226117f), 0.00836883951f, 0.0416682474f, 0.166665196f, 0.49999994f);
    return {(vi)shifted - (vi)magic, fma(r * r, p, r)};
}

/// e^x within 1.1 ULP, down to the denormals (unless the processor flushes them); infinite above 88.72, NaN of NaN.
/// Two factors, because one power of two cannot reach both ends.
SINTER_INLINE vf exp(vf x) {
    const reduced t = reduce_exp(max(splat(-104.f), min(splat(89.f), x)));
    const vi half = t.n >> 1;
    return (t.expm1 + 1.f) * power_of_two(half) * power_of_two(t.n - half);
}

/// e^x - 1 within 2 ULP, also where x and the result are tiny; infinite above 88.72, NaN of NaN.
SINTER_INLINE vf expm1(vf x) {
    const reduced t = reduce_exp(max(splat(-20.f), min(splat(89.f), x)));
    const vi half = t.n >> 1;   // 2^128 is no float: the greatest are twice the half of it
    const vf some = power_of_two(t.n - (t.n > 127 ? half : vi{})), rest = power_of_two(t.n > 127 ? half : vi{});
    return fma(t.expm1, some, some - select(t.n > 127, zero(), splat(1.f))) * rest;
}

/// 1 / (1 + e^-x) within 2.5 ULP, including the left tail, which the textbook form loses.
SINTER_INLINE vf sigmoid(vf x) {
    const vf e = exp(-absolute(x));
    return select((vi)x >> 31, e, splat(1.f)) / (e + 1.f);
}

} // namespace sinter::cpu
