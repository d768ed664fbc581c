// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/math/pieces.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// erf(t) for 0 <= t <= 1.
SINTER_INLINE vf near_erf(vf t) {
    const vf z = t * t;
    return fma(t,
               short_polynomial(z, 7.81905619e-05f, -0.000800069305f, 0.0051873927f, -0.0268534217f, 0.112835795f,
                                -0.37612626f, 0.128379166f),
               t);
}
/// erf in as many pieces as a vector has lanes, each with the least greatest error in units of the
/// last place; the first is odd near 0, and the last bends up to 1 where arguments are cut off.
template <int Pieces>
struct erf_pieces;
template <>
struct erf_pieces<16> {
    static constexpr float per_unit = 4, end = 3.8749998f;
    alignas(64) static constexpr float coefficients[6][16] = {
        {0.111088999f, 0.0795499235f, 0.00749058789f, -0.052669514f, -0.0687151551f, -0.0470671579f, -0.0150133157f,
         0.00643566344f, 0.0129849417f, 0.0106364824f, 0.0061341254f, 0.00277594803f, 0.00102876278f, 0.000319127867f,
         8.39457352e-05f, 1.88839349e-05f},
        {0.000257595821f, 0.126035228f, 0.18191126f, 0.150058344f, 0.069289878f, -0.00566266896f, -0.044146955f,
         -0.0478918739f, -0.0344337784f, -0.0191510115f, -0.00868784823f, -0.00329699344f, -0.00106175255f,
         -0.000292780402f, -6.95545095e-05f, -1.42976842e-05f},
        {-0.376139522f, -0.309166133f, -0.146465316f, 0.0267834868f, 0.138364851f, 0.167534739f, 0.138753369f,
         0.0901590362f, 0.0482239127f, 0.0217247512f, 0.00834993459f, 0.00276020193f, 0.000788987265f, 0.000195760193f,
         4.22785015e-05f, 1.13257356e-05f},
        {2.23256549e-07f, -0.264997989f, -0.43938446f, -0.482194632f, -0.415108114f, -0.295654297f, -0.178398073f,
         -0.092357479f, -0.0413340367f, -0.016069822f, -0.00544532714f, -0.00161203451f, -0.000417657371f,
         -9.48278757e-05f, -1.88872036e-05f, -2.04235266e-06f},
        {1.12837923f, 1.06001413f, 0.87878257f, 0.642931104f, 0.415107518f, 0.236521125f, 0.118930288f, 0.0527749918f,
         0.020666983f, 0.00714231841f, 0.00217828457f, 0.000586277689f, 0.00013925333f, 2.91891483e-05f,
         5.39946859e-06f, 1.03898583e-06f},
        {0.f, 0.276326388f, 0.520499885f, 0.711155653f, 0.842700779f, 0.92290014f, 0.966105163f, 0.986671686f,
         0.995322287f, 0.998537302f, 0.999593019f, 0.999899387f, 0.999977887f, 0.999995708f, 0.999999285f,
         0.999999881f},
    };
};
template <>
struct erf_pieces<8> {
    static constexpr float per_unit = 1 / 0.515625f, end = 3.8671872f;
    alignas(32) static constexpr float coefficients[7][8] = {
        {-0.0200067721f, -0.0479576886f, 0.00702570984f, 0.0173889268f, -0.000622344727f, -0.00244963565f,
         -0.000531295897f, -7.26717917e-05f},
        {0.118528351f, 0.00340637797f, -0.0664164871f, -0.0102847628f, 0.0127019389f, 0.00495516323f, 0.000701988756f,
         4.80233211e-05f},
        {-0.000751565327f, 0.183401763f, 0.0584943965f, -0.0474519841f, -0.0303656328f, -0.00648018718f,
         -0.000653799565f, -2.75966249e-05f},
        {-0.376081347f, -0.135031492f, 0.146291927f, 0.130122527f, 0.0401336439f, 0.00600058353f, 0.000474485278f,
         2.21991249e-05f},
        {-9.88634156e-07f, -0.445987284f, -0.401751637f, -0.159485534f, -0.0330673009f, -0.00377676496f,
         -0.000243335933f, -8.86711859e-06f},
        {1.12837923f, 0.864947319f, 0.38957721f, 0.10310147f, 0.0160326306f, 0.00146495248f, 7.86592645e-05f,
         2.47979301e-06f},
        {0.f, 0.534123003f, 0.855271816f, 0.971302092f, 0.996463776f, 0.999733686f, 0.999987841f, 0.999999642f},
    };
};
/// The error function within 2.3 ULP, +-1 beyond 3.88. By pieces, or below 1 an odd polynomial,
/// above it 1 - 2^h(|x|) with the logarithm of erfc fitted by h.
SINTER_INLINE vf erf(vf x) {
    if constexpr (picks_lanes)
        return with_sign(by_pieces<erf_pieces<pieces>>(min(splat(erf_pieces<pieces>::end), absolute(x))), x);
    const vf t = min(splat(4.f), absolute(x));
    const vf h = short_polynomial(t, -5.72779845e-06f, 4.8494865e-05f, 0.000160922631f, -0.00447860267f, 0.0331262797f,
                                  -0.15226312f, -0.916802287f, -1.62820268f);
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

/// 1 - erf(x) within 4 ULP, however small: far out e^(-x^2) / (1 + 2x) times a polynomial in (x -
/// 2) / (x + 2), where the part of x^2 that rounding loses counts, too (Shepherd and Laframboise
/// 1981 have the form).
SINTER_INLINE vf erfc(vf x) {
    const vf t = min(splat(10.2f), absolute(x)), square = t * t, u = (t - 2.f) / (t + 2.f);
    const vf p = polynomial(u, splat(-0.000260554079f), -0.00126316049f, 0.00117614435f, 0.00866158307f,
                            -0.00801467802f, -0.0542132109f, 0.164049879f, -0.166030496f, -0.0927638113f, 1.27697837f);
    const vf e = exp(-square), far = fma(-square_error(t, square), e, e) * p / fma(t, splat(2.f), splat(1.f));
    return select(t < 0.45f, 1.f - with_sign(near_erf(t), x), select(x < 0.f, 2.f - far, far));
}

} // namespace sinter::cpu
