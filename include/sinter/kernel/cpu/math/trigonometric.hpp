// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/wide.hpp>

/// Sine, cosine and tangent. Angles are reduced by multiples of pi/2, in three parts where
/// multiplications are fused with additions, by doubles elsewhere. The C library takes the rare
/// angles beyond `most_angle`.
namespace sinter::inline SINTER_TARGET::cpu {

/// x = n pi/2 + r, |r| <= pi/4.
struct quarter_turns {
    vf r;
    vi n;
};

#if defined(__FMA__) || defined(__AVX512F__)
inline constexpr float most_angle =
    0x1p18f;   // the factor 2 / pi of a larger one is off by more than the polynomials allow
SINTER_INLINE quarter_turns reduce_angle(vf x) {
    const auto [n, bits] = round_product(x, 0x1.45f306p-1f);
    // The first step has no rounding: x and the first part's multiple have no bits below 2^-24, and
    // are less than 1 apart.
    const vf r = fma(n, splat(0x1.ee59dap-50f), fma(n, splat(0x1.777a5cp-25f), fma(n, splat(-0x1.921fb6p0f), x)));
    return {r, bits};
}
#else
inline constexpr float most_angle = 0x1p20f;   // up to it the first of two parts has no rounding
SINTER_INLINE quarter_turns reduce_angle(vf x) {
    const auto turns = [](vd a) SINTER_ALWAYS { return round(a * 0x1.45f306dc9c883p-1); };
    const auto rest = [](vd a, vd n) SINTER_ALWAYS { return (a - n * 0x1.921fb544p0) - n * 0x1.0b4611a626331p-34; };
    const vd a = low_doubles(x), b = high_doubles(x), m = turns(a), n = turns(b);
    // a number that no integer can hold may not be converted: compilers make anything of it
    const vf count = select(absolute(x) <= most_angle, to_floats(m, n), zero());
    return {to_floats(rest(a, m), rest(b, n)), __builtin_convertvector(count, vi)};
}
#endif
SINTER_INLINE vf near_sine(vf r) {
    const vf z = r * r;
    return fma(r * z, polynomial(z, splat(-0.000195182918f), 0.00833218917f, -0.166666552f), r);
}
SINTER_INLINE vf near_cosine(vf r) {
    const vf z = r * r;
    return fma(z, fma(z, polynomial(z, splat(2.44325674e-05f), -0.00138873106f, 0.0416666456f), splat(-0.5f)),
               splat(1.f));
}
/// sin(n pi/2 + r).
SINTER_INLINE vf sine_of(const quarter_turns& t) {
    const vf y = select((t.n & 1) != 0, near_cosine(t.r), near_sine(t.r));
    return (vf)((vi)y ^ (vi)((vu)(t.n & 2) << 30));
}
template <class F>
SINTER_INLINE vf with_far_angles(vf x, vf y, F far) {
    const lane_mask beyond = exceeds(absolute(x), splat(most_angle));
    if (__builtin_expect(any(beyond), 0)) patch_lanes(x, beyond, y, far);
    return y;
}

/// Within 1.6 ULP, everywhere; NaN of infinities.
SINTER_INLINE vf sin(vf x) {
    return with_far_angles(x, sine_of(reduce_angle(x)), [](float a) { return __builtin_sin(static_cast<double>(a)); });
}
SINTER_INLINE vf cos(vf x) {
    quarter_turns t = reduce_angle(x);
    t.n += 1;
    return with_far_angles(x, sine_of(t), [](float a) { return __builtin_cos(static_cast<double>(a)); });
}
/// Within 3.5 ULP, everywhere; within 3 where multiplications are fused with additions.
SINTER_INLINE vf tan(vf x) {
    const quarter_turns t = reduce_angle(x);
    const vf s = near_sine(t.r), c = near_cosine(t.r);
    const vi odd = (t.n & 1) != 0;
    const vf y = select(odd, -c, s) / select(odd, s, c);
    return with_far_angles(x, y, [](float a) { return __builtin_tan(static_cast<double>(a)); });
}

} // namespace sinter::cpu
