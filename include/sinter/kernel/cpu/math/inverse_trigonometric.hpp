// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr float half_pi = 1.57079637f, half_pi_rest = -4.37113883e-8f;
inline constexpr float whole_pi = 3.14159274f, whole_pi_rest = -8.74227766e-8f;

/// asin(x) for |x| <= 1/2, where z = x * x.
SINTER_INLINE vf near_arcsine(vf x, vf z) {
    const vf p = polynomial(z, splat(0.0421583056f), 0.0241847783f, 0.0454691499f, 0.0749530941f, 0.166667521f);
    return fma(x * z, p, x);
}
/// Arc sine within 2 ULP; NaN beyond 1. Above 1/2 by the half angle: asin(x) = pi/2 - 2
/// asin(sqrt((1 - x) / 2)).
SINTER_INLINE vf asin(vf x) {
    const vf t = absolute(x), half = (1.f - t) * 0.5f;
    const vi far = t > 0.5f;
    const vf y = near_arcsine(select(far, sqrt(half), t), select(far, half, t * t));
    return with_sign(select(far, (half_pi - 2.f * y) + half_pi_rest, y), x);
}
/// Arc cosine within 2 ULP, near 1 too; NaN beyond 1.
SINTER_INLINE vf acos(vf x) {
    const vf t = absolute(x), half = (1.f - t) * 0.5f;
    const vi far = t > 0.5f;
    const vf y = near_arcsine(select(far, sqrt(half), x), select(far, half, x * x));
    const vf beyond = select(x < 0.f, (whole_pi - 2.f * y) + whole_pi_rest, 2.f * y);
    return select(far, beyond, half_pi - (y - half_pi_rest));
}

/// atan(x) for 0 <= x <= 1.
SINTER_INLINE vf near_arctangent(vf x) {
    const vf z = x * x;
    const vf p = polynomial(z, splat(-0.0017875476f), 0.0108873611f, -0.0311270021f, 0.0579065457f, -0.0840047523f,
                            0.109511748f, -0.142640516f, 0.19998531f, -0.333332986f);
    return fma(x * z, p, x);
}
/// Arc tangent within 2 ULP.
SINTER_INLINE vf atan(vf x) {
    const vf t = absolute(x);
    const vi far = t > 1.f;
    const vf y = near_arctangent(select(far, 1.f / t, t));
    return with_sign(select(far, (half_pi - y) + half_pi_rest, y), x);
}
/// The angle of the point (x, y) within 3 ULP, in (-pi, pi], with the C library's rules for zeros
/// and infinities.
SINTER_INLINE vf atan2(vf y, vf x) {
    const vf a = absolute(y), b = absolute(x), large = max(a, b), small = min(a, b);
    const vf ratio =
        select(large == 0.f, zero(), select(small == large, splat(1.f), small / large));   // inf / inf is 1 here
    vf r = near_arctangent(ratio);
    r = select(a > b, (half_pi - r) + half_pi_rest, r);
    r = select((vi)x < 0, (whole_pi - r) + whole_pi_rest, r);
    return select((x == x) & (y == y), with_sign(r, y), x + y);
}

} // namespace sinter::cpu
