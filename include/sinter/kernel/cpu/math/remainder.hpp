// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/rounding.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// A remainder of a by b, exactly, of the sign of a or none: a - b times the quotient, rounded
/// towards zero.
struct division {
    vf rest;
    vi below;   ///< rest and b have different signs: the floored quotient is one less, its rest b more
};
SINTER_INLINE division divide(vf a, vf b) {
    const vf y = absolute(b);
    vf r = absolute(a);
#if defined(__FMA__) || defined(__AVX512F__)
    // r - q y has no rounding where q is the rounded quotient, or the integer nearest to that;
    // each round takes 23 bits off the quotient, and what lies so far apart that it overflows is
    // first taken modulo a multiple of b.
    const vf inf = splat(__builtin_inff());
    do {
        const vf q = r / y;
        const vi overflows = (absolute(q) == inf) & (absolute(r) < inf) & (y > 0.f);
        const vf by = select(overflows, y * 0x1p64f * 0x1p64f, y), p = select(overflows, r / by, q);
        r = fma(-round(p), by, r);
    } while (any(mask_of((absolute(r) >= y) & (y > 0.f))));
    r = select(r < 0.f, r + y, r);   // exact, for so is the rest of the truncated quotient
    r = select((y == inf) & (absolute(a) < inf), absolute(a), r);
#else
    for (int i = 0; i < lanes; ++i) r[i] = __builtin_fmodf(r[i], y[i]);
#endif
    const vf rest = with_sign(r, a);
    return {rest, (r > 0.f) & (((vi)rest ^ (vi)b) < 0)};
}

/// The rest of floored division, of b's sign and exact, as NumPy's and Python's.
SINTER_INLINE vf mod(vf a, vf b) {
    const division d = divide(a, b);
    return with_sign(absolute(select(d.below, d.rest + b, d.rest)), b);
}
/// The floored quotient, as NumPy's: by the exact rest, not by a rounded quotient. a / b where b is
/// 0.
SINTER_INLINE vf floor_div(vf a, vf b) {
    const division d = divide(a, b);
    const vf q = round((a - d.rest) / b) - select(d.below, splat(1.f), zero());
    return select(b == 0.f, a / b, q);
}

} // namespace sinter::cpu
