// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>

namespace sinter::cpu {

/// Natural logarithm within 1 ULP, denormals included; -inf of zeros, NaN below zero and of NaN, inf of inf.
SINTER_INLINE vf log(vf x) {
    const vi denormal = x < splat(0x1p-126f);
    const vf scaled = select(denormal, x * 0x1p23f, x);
    // m in [sqrt(1/2), sqrt(2)): so that m - 1 is exact and small where the logarithm is.
    const vi bits = (vi)((vu)scaled - (vu)splat(std::int32_t{0x3f3504f3})), e = (bits >> 23) - (denormal & 23);
    const vf f = (vf)((bits & 0x7fffff) + splat(std::int32_t{0x3f3504f3})) - 1.f;
    const vf n = __builtin_convertvector(e, vf), square = f * f;
    const vf p = polynomial(f, splat(-0.0763667747f), 0.12763986f, -0.131603464f, 0.142013744f, -0.166233122f,
                            0.200012475f, -0.250008225f, 0.333333313f);
    const vf low = fma(square * f, p, fma(n, splat(-2.12194440e-4f), square * -0.5f));
    const vf y = fma(n, splat(0.693359375f), f + low);
    const vf of_zero = select(x == 0.f, splat(-__builtin_inff()), splat(__builtin_nanf("")));
    return select(x > 0.f, select(x == __builtin_inff(), x, y), of_zero);
}

/// log(1 + x) within 2 ULP, also where x is tiny: what 1 + x loses is added again, over the derivative.
SINTER_INLINE vf log1p(vf x) {
    const vf sum = x + 1.f, lost = (x - (sum - 1.f)) / sum;
    return log(sum) + select(lost == lost, lost, zero());   // at -1 and infinity there is nothing to correct
}

} // namespace sinter::cpu
