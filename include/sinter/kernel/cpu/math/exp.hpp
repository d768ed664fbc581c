// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// M x = n ln 2 + M r, |M r| <= ln 2 / 2, and (e^(M r) - 1) / M.
struct reduced {
    vf expm1, scale;   ///< scale: 2^n where that is a normal number; NaN or not, expm1 is NaN where x is
    vi n;
};
/// For |M x| <= 105, M a power of two. The reduction is exact even without fused multiply-add: ln
/// 2's first part has 9 bits.
template <int M = 1>
SINTER_INLINE reduced reduce_exp(vf x) {
    constexpr float m = M;
    const vf magic = splat(
        12583039.f);   // 1.5 * 2^23 + 127: adding it rounds to an integer and leaves 2^n's exponent in the low bits
    const vf shifted = fma(x, splat(m * 1.44269504f), magic), n = shifted - magic;
    const vf r = fma(n, splat(2.12194440e-4f / m), fma(n, splat(-0.693359375f / m), x)), square = r * r;
    const vf low = fma(r, splat(m * m * 0.166665196f), splat(m * 0.49999994f));
    const vf high = fma(r, splat(m * m * m * m * 0.00836883951f), splat(m * m * m * 0.0416682474f));
    const vf p = fma(fma(square, splat(m * m * m * m * m * 0.00138226117f), high), square, low);
    return {fma(square, p, r), (vf)((vu)shifted << 23), (vi)((vu)shifted - (vu)magic)};
}
/// e^x where that is neither infinite nor denormal: |x| <= 87. NaN of NaN.
SINTER_INLINE vf near_exp(vf x) {
    const reduced t = reduce_exp(x);
    return fma(t.expm1, t.scale, t.scale);
}
inline constexpr float most_near_exp = 87;
/// Lanes where it may be, and NaN.
SINTER_INLINE lane_mask beyond_exp(vf x) { return exceeds(absolute(x), splat(most_near_exp)); }

/// For exp's ends: two factors, because one power of two cannot reach both.
struct whole_exp {
    static SINTER_INLINE vf far(vf x) {
        const reduced t = reduce_exp(max(splat(-104.f), min(splat(89.f), x)));
        const vi half = t.n >> 1;
        return (t.expm1 + 1.f) * power_of_two(half) * power_of_two(t.n - half);
    }
};
/// e^x within 1.1 ULP, down to the denormals (unless the processor flushes them); infinite above
/// 88.72, NaN of NaN.
SINTER_INLINE vf exp(vf x) { return with_far<whole_exp>(x, beyond_exp(x), near_exp(x)); }

/// 2^x as 2^f, |f| <= 1/2, times 2^n where that is a normal number, else 0: for sums that take it
/// by a multiply-add.
struct rounded_power {
    vf fraction, scale;
};
SINTER_INLINE rounded_power reduced_power(vf f,
                                          vf shifted) {   // f = x - n, where `shifted` is n + magic: see reduce_exp
    const vf square = f * f;
    const vf low = fma(f, splat(0.6931469776f), splat(1.f)),
             middle = fma(f, splat(0.05550733754f), splat(0.2402224208f)),
             high = fma(f, splat(0.001326472408f), splat(0.009671512888f));
    return {fma(square, fma(square, high, middle), low), (vf)((vu)shifted << 23)};
}
SINTER_INLINE rounded_power reduce_exp2(vf x) {
    const vf magic = splat(12583039.f), shifted = x + magic;
    return reduced_power(x - (shifted - magic), shifted);
}
/// 2^x within 2.6 ULP for -126 <= x < 127.5, something smaller than 2^-126 down to -126.5, 0 to
/// -127; NaN of all NaN.
SINTER_INLINE vf near_exp2(vf x) {
    const rounded_power t = reduce_exp2(x);
    return t.fraction * t.scale;
}
/// 2^(times x) for x <= 0 and times > 0, 0 below 2^-127: what a softmax takes of differences to its
/// maximum. The product with `times` is not rounded where there is fused multiply-add.
class negative_power {
public:
    SINTER_INLINE explicit negative_power(float times)
        : times_(splat(times)), least_(splat(times * __FLT_MAX__ > 127.f ? -127.f / times : -__FLT_MAX__)) {}
    SINTER_INLINE vf operator()(vf x) const {
        const vf magic = splat(12583039.f), y = max(least_, x), shifted = fma(y, times_, magic);
        const rounded_power t = reduced_power(fma(y, times_, magic - shifted), shifted);
        return t.fraction * t.scale;
    }

private:
    vf times_, least_;
};

/// e^x - 1 within 2 ULP, also where x and the result are tiny; infinite above 88.72, NaN of NaN.
SINTER_INLINE vf expm1(vf x) {
    const reduced t = reduce_exp(max(splat(-20.f), min(splat(89.f), x)));
    const vi half = t.n >> 1;   // 2^128 is no float: the greatest are twice the half of it
    const vf some = power_of_two(t.n - (t.n > 127 ? half : vi{})), rest = power_of_two(t.n > 127 ? half : vi{});
    return fma(t.expm1, some, some - select(t.n > 127, zero(), splat(1.f))) * rest;
}

struct whole_sigmoid {
    static SINTER_INLINE vf far(vf x) {
        const vf e = whole_exp::far(negative(x));
        return select((vi)x >> 31, e, splat(1.f)) / (e + 1.f);
    }
};
/// 1 / (1 + e^-x) within 2.5 ULP, including the left tail, where e^-x overflows.
SINTER_INLINE vf sigmoid(vf x) { return with_far<whole_sigmoid>(x, beyond_exp(x), 1.f / (near_exp(-x) + 1.f)); }

} // namespace sinter::cpu
