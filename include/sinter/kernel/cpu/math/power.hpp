// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/math/log.hpp>
#include <sinter/kernel/cpu/math/rounding.hpp>
#include <sinter/kernel/cpu/math/wide.hpp>
#include <sinter/kernel/cpu/vector/pick_lanes.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// x^y by doubles, within 0.51 ULP.
SINTER_INLINE vf pow_by_doubles(vf x, vf y) {
    const vf size = absolute(x),
             power = max(splat(-1e30f), min(splat(1e30f), y));   // an infinite y is a large even one
    const vf inf = splat(__builtin_inff());
    const auto half = [](vd a, vd b) SINTER_ALWAYS {
        const vd of_zero = wide(-1e30), of_infinity = wide(1e30);
        const vd l = select(a == 0., of_zero, select(a > 0x1p200, of_infinity, log(a)));
        const vd e = b * l;
        return exp(select(e > 700., wide(700.), select(e < -700., wide(-700.), e)));
    };
    vf r = to_floats(half(low_doubles(size), low_doubles(power)), half(high_doubles(size), high_doubles(power)));
    const vi whole = trunc(y) == y, odd = whole & (trunc(y * 0.5f) * 2.f != y);
    r = (vf)((vi)r | ((vi)x & odd & splat(std::int32_t(0x80000000u))));
    r = select((x < 0.f) & (x > -inf) & ~whole, splat(__builtin_nanf("")), r);
    r = select((x == x) & (y == y), r, x + y);
    return select((y == 0.f) | (x == 1.f), splat(1.f), r);
}

#if defined(__FMA__) || defined(__AVX512F__)
/// Sixteen stretches of the numbers from sqrt(1/2) to sqrt(2): a factor of few bits that takes
/// those of a stretch near 1, so that what is then left of 1 is exact, and less than 0.043; and the
/// factor's logarithm to base 2, less than nothing, the first part of which has 16 bits behind the
/// point. Around 1 the factor is 1.
struct near_one {
    alignas(64) static constexpr float factor[16] = {1.375f,   1.3125f,  1.25f, 1.25f,   1.1875f, 1.125f,
                                                     1.125f,   1.0625f,  1.f,   1.f,     0.9375f, 0.875f,
                                                     0.84375f, 0.78125f, 0.75f, 0.71875f};
    alignas(64) static constexpr float log2[16] = {-0.45942688f,  -0.392318726f, -0.321929932f, -0.321929932f,
                                                   -0.247924805f, -0.169921875f, -0.169921875f, -0.0874633789f,
                                                   0.f,           0.f,           0.0931091309f, 0.192642212f,
                                                   0.245117188f,  0.356140137f,  0.415039062f,  0.47644043f};
    alignas(64) static constexpr float log2_low[16] = {
        -4.73875434e-06f, 1.30280716e-06f, 1.83675331e-06f, 1.83675331e-06f, -2.70875603e-06f, -3.12644238e-06f,
        -3.12644238e-06f, 5.37655922e-07f, 0.f,             0.f,             2.73532095e-07f,  2.86602835e-06f,
        -4.68966346e-06f, 3.67350663e-06f, -1.56322119e-06f, -2.38574444e-06f};
};
/// The logarithm to base 2 of a positive normal number, to 2^-31, by a table: m = (1 + f) / factor,
/// and log(1 + f) = f - f^2 / 2 + f^3 g.
SINTER_INLINE two_floats exact_log2_by_table(vf x) {
    const split_float parts = split(x);
    const vi which = (vi)((vu)x - (vu)splat(std::int32_t{0x3f3504f3})) >> 19;
    const vf f = fma(parts.m, pick_lanes(load(near_one::factor), which), splat(-1.f)), half = f * -0.5f, square = f * f;
    const vf s = fma(half, f, f), s_low = fma(half, f, f - s);
    const vf rest = fma(square * f, short_polynomial(f, -0.166954f, 0.200262857f, -0.249999866f, 0.333333273f), s_low);
    const vf scale = splat(0x1.715476p+0f), scale_low = splat(0x1.4ae0cp-26f);
    vf v = s * scale;
    pin(v);
    const vf v_low = fma(rest, scale, fma(s, scale_low, fma(s, scale, -v)));
    const vf whole = __builtin_convertvector(parts.n, vf) + pick_lanes(load(near_one::log2), which), high = whole + v;
    return {high, ((whole - high) + v) + (v_low + pick_lanes(load(near_one::log2_low), which))};
}
/// The logarithm to base 2 of a positive normal number, to 2^-31: n + 2 / ln 2 (s + s^3 / 3 + s^5 /
/// 5 + ...) with s = (m - 1) / (m + 1). A product whose rounding is made up for is pinned: it must
/// not become part of a multiply-add.
SINTER_INLINE two_floats exact_log2(vf x) {
    if constexpr (has_tables) return exact_log2_by_table(x);
    const split_float parts = split(x);
    const vf n = __builtin_convertvector(parts.n, vf), m = parts.m, f = m - 1.f;
    const vf below = m + 1.f, below_low = m - (below - 1.f), inverse = 1.f / below;
    const vf s = f * inverse, s_low = fma(-s, below_low, fma(-s, below, f)) * inverse;
    vf z = s * s;
    pin(z);
    const vf z_low = fma(s + s, s_low, fma(s, s, -z)), third = splat(0x1.555556p-2f);
    const vf rest =
        fma(z, short_polynomial(z, 0.0966647949f, 0.110966791f, 0.142858559f, 0.199999996f), splat(-0x1.555556p-27f));
    vf w = z * third;   // z / 3 + z^2 / 5 + ...
    pin(w);
    const vf w_low = fma(z, rest, fma(z_low, third, fma(z, third, -w)));
    vf v = s * w;
    pin(v);
    const vf v_low = fma(s, w_low, fma(s_low, w, fma(s, w, -v)));
    const vf sum = s + v, sum_low = ((s - sum) + v) + (s_low + v_low);
    const vf scale = splat(0x1.715476p+1f), scale_low = splat(0x1.4ae0cp-25f);
    vf b = sum * scale;
    pin(b);
    const vf b_low = fma(sum_low, scale, fma(sum, scale_low, fma(sum, scale, -b)));
    const vf high = n + b;
    return {high, ((n - high) + b) + b_low};
}
__attribute__((noinline, cold, const)) inline vf put_pow(vf x, vf y, lane_mask marked, vf result) {
    return select(marked, pow_by_doubles(x, y), result);
}
/// x^y within 1 ULP (0.82 is the most that was seen), with the C library's rules: a negative x
/// needs a whole y (else NaN); x^0 and 1^y are 1 even of NaN. 2^(y log2 x), the exponent as a pair
/// of floats; by doubles where x is not positive and normal or the power is hardly a float.
SINTER_INLINE vf pow(vf x, vf y) {
    const two_floats l = exact_log2(x);
    vf t = y * l.high;
    pin(t);
    const vf t_low = fma(y, l.low, fma(y, l.high, -t));
    const vf magic = splat(12582912.f), shifted = t + magic;   // see reduce_exp
    const vf g = t - (shifted - magic), h = g + t_low, h_low = (g - h) + t_low, ln2 = splat(0x1.62e43p-1f);
    const vf p = short_polynomial(h, 0.00015472367f, 0.00133904192f, 0.00961802145f, 0.0555036172f, 0.240226512f);
    vf e = h * ln2;   // 2^h = 1 + h ln 2 + h^2 p
    pin(e);
    const vf rest = fma(h * h, p, fma(h_low, ln2, fma(h, ln2, -e))), near = 1.f + e;
    const vf power = near + (((1.f - near) + e) + rest);
    const vf result = (vf)((vu)power + ((vu)shifted << 23));   // times 2^n, added to the exponent
    const lane_mask marked = either(beyond_log(x), exceeds(absolute(t), splat(125.5f)));
    return __builtin_expect(any(marked), 0) ? put_pow(x, y, marked, result) : result;
}
#else
/// x^y within 1 ULP, with the C library's rules.
SINTER_INLINE vf pow(vf x, vf y) { return pow_by_doubles(x, y); }
#endif

} // namespace sinter::cpu
