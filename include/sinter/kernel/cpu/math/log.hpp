// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Lanes without a positive normal number below the one with the bits `end`: where x's bits less
/// the least normal one's are, as unsigned, too large.
SINTER_INLINE lane_mask beyond_log(vf x, std::int32_t end = 0x7f800000) {
    return exceeds((vu)x - (vu)splat(std::int32_t{0x00800000}), (vu)splat(end - 0x00800001));
}
/// What is left of n ln 2 + log(1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1], without 0.693359375 n
/// and f.
SINTER_INLINE vf log_rest(vf n, vf f) {
    const vf square = f * f, fourth = square * square;
    const vf a = fma(f, splat(-0.250008225f), splat(0.333333313f)),
             b = fma(f, splat(-0.166233122f), splat(0.200012475f));
    const vf c = fma(f, splat(-0.131603464f), splat(0.142013744f)),
             d = fma(f, splat(-0.0763667747f), splat(0.12763986f));
    const vf p = fma(fourth, fma(square, d, c), fma(square, b, a));
    return fma(square * f, p, fma(n, splat(-2.12194440e-4f), square * -0.5f));
}
SINTER_INLINE vf log_of(vf n, vf f) { return fma(n, splat(0.693359375f), f + log_rest(n, f)); }
/// A number as the sum of two floats, the second of which is below some thousandths of the first.
struct two_floats {
    vf high, low;
};
/// A positive normal number as 2^n m, m in [sqrt(1/2), sqrt(2)): so that m - 1 is exact and small
/// where the logarithm is.
struct split_float {
    vi n;
    vf m;
};
SINTER_INLINE split_float split(vf x) {
    const vi bits = (vi)((vu)x - (vu)splat(std::int32_t{0x3f3504f3}));
    return {bits >> 23, (vf)((bits & 0x7fffff) + splat(std::int32_t{0x3f3504f3}))};
}

struct whole_log {
    static SINTER_INLINE vf far(vf x) {
        const vi denormal = x < splat(0x1p-126f);
        const split_float s = split(select(denormal, x * 0x1p23f, x));
        const vf y = log_of(__builtin_convertvector(s.n - (denormal & 23), vf), s.m - 1.f);
        const vf of_zero = select(x == 0.f, splat(-__builtin_inff()), splat(__builtin_nanf("")));
        return select(x > 0.f, select(x == __builtin_inff(), x, y), of_zero);
    }
};
/// Natural logarithm within 1 ULP, denormals included; -inf of zeros, NaN below zero and of NaN,
/// inf of inf.
SINTER_INLINE vf log(vf x) {
    const split_float s = split(x);
    return with_far<whole_log>(x, beyond_log(x), log_of(__builtin_convertvector(s.n, vf), s.m - 1.f));
}

struct whole_log1p {
    static SINTER_INLINE vf far(vf x) { return whole_log::far(x + 1.f); }   // at -1, below it, and from 2^127 on
};
/// log(1 + x) within 2 ULP, also where x is tiny: what 1 + x loses is added to its fraction.
SINTER_INLINE vf log1p(vf x) {
    const vf sum = x + 1.f, lost = x - (sum - 1.f);
    const split_float s = split(sum);
    const vf scale = (vf)((vu)splat(1.f) - ((vu)s.n << 23));   // 2^-n, or 0 for n = 127
    return with_far<whole_log1p>(x, beyond_log(sum, 0x7f000000),
                                 log_of(__builtin_convertvector(s.n, vf), fma(lost, scale, s.m - 1.f)));
}

} // namespace sinter::cpu
