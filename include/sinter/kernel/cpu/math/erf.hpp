// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>

namespace sinter::cpu {

/// erf(t) for 0 <= t <= 1.
SINTER_INLINE vf near_erf(vf t) {
    const vf z = t * t;
    return fma(t, short_polynomial(z, 7.81905619e-05f, -0.000800069305f, 0.0051873927f, -0.0268534217f, 0.112835795f, -0.37612626f,
                                   0.128379166f), t);
}
/// The error function within 2 ULP. Below 1 an odd polynomial, above it 1 - 2^h(|x|) with the logarithm of erfc fitted by h.
SINTER_INLINE vf erf(vf x) {
    const vf t = min(splat(4.f), absolute(x));
    const vf h = short_polynomial(t, -5.72779845e-06f, 4.8494865e-05f, 0.000160922631f, -0.00447860267f, 0.0331262797f, -0.15226312f,
                                  -0.916802287f, -1.62820268f);
    const rounded_power p = reduce_exp2(t * h);
    const vf far = fma(-p.fraction, p.scale, splat(1.f));
    return with_sign(select(t < 1.f, near_erf(t), far), x);
}

/// x * x - its rounded value, exactly.
SINTER_INLINE vf square_error(vf x, vf square) {
#if defined(__FMA__) || defined(__AVX512F__)
    return fma(x, x, -square);
#else
    const vf high = (vf)((vi)x & splat(std::int32_t(0xfffff000u))), low = x - high;
    return ((high * high - square) + 2.f * (high * low)) + low * low;
#endif
}

/// 1 - erf(x) within 4 ULP, however small: far out e^(-x^2) / (1 + 2x) times a polynomial in (x - 2) / (x + 2), where the part
/// of x^2 that rounding loses counts, too (Shepherd and Laframboise 1981 have the form).
SINTER_INLINE vf erfc(vf x) {
    const vf t = min(splat(10.2f), absolute(x)), square = t * t, u = (t - 2.f) / (t + 2.f);
    const vf p = polynomial(u, splat(-0.000260554079f), -0.00126316049f, 0.00117614435f, 0.00866158307f, -0.00801467802f,
                            -0.0542132109f, 0.164049879f, -0.166030496f, -0.0927638113f, 1.27697837f);
    const vf e = exp(-square), far = fma(-square_error(t, square), e, e) * p / fma(t, splat(2.f), splat(1.f));
    return select(t < 0.45f, 1.f - with_sign(near_erf(t), x), select(x < 0.f, 2.f - far, far));
}

} // namespace sinter::cpu
