// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/wide.hpp>

/// The logarithm of the gamma function and its first two derivatives, in doubles: eight steps of
/// the recurrence up, then Stirling's series (Abramowitz and Stegun 6.1.40, 6.3.18, 6.4.12); below
/// 0 by reflection.
namespace sinter::inline SINTER_TARGET::cpu {

namespace detail {
inline constexpr double pi = 0x1.921fb54442d18p1;

/// p = x (x + 1) ... (x + 7) with its derivatives, and z = x + 8; where x is large enough, 1 and x.
struct raised {
    vd z, p, d1, d2;
};
SINTER_INLINE raised raise(vd x) {
    vd p = x, d1 = wide(1), d2 = wide(0);
    for (int k = 1; k < 8; ++k) {
        const vd f = x + static_cast<double>(k);
        d2 = d2 * f + 2. * d1;
        d1 = d1 * f + p;
        p = p * f;
    }
    const vl small = x < 8.;
    return {select(small, x + 8., x), select(small, p, wide(1)), select(small, d1, wide(0)),
            select(small, d2, wide(0))};
}
/// sin(pi r) and cos(pi r), |r| <= 1/2.
SINTER_INLINE vd sine_of_pi(vd r) {
    return r * polynomial(r * r, wide(7.1512844370517112e-07), -2.1852235608101869e-05, 0.00046628013846854773,
                          -0.0073704265038242039, 0.082145886105572635, -0.59926452928710849, 2.5501640398760896,
                          -5.1677127800499489, pi);
}
SINTER_INLINE vd cosine_of_pi(vd r) {
    return polynomial(r * r, wide(4.2931866413503184e-06), -0.00010470379316297182, 0.0019296093665772717,
                      -0.025806899380163853, 0.23533063130227325, -1.3352627689126546, 4.0587121264184507,
                      -4.9348022005446968, 1.);
}
SINTER_INLINE vd lgamma(vd x) {
    const vd inf = wide(__builtin_inf()), r = x - round(x), s = sine_of_pi(r);
    const raised u = raise(select(x < 0., 1. - x, x));
    const vd w = 1. / u.z;
    const vd series =
        w * polynomial(w * w, wide(1. / 156), -691. / 360360, 1. / 1188, -1. / 1680, 1. / 1260, -1. / 360, 1. / 12);
    const vd y = (u.z - 0.5) * log(u.z) - u.z + 0.91893853320467274 + series - log(u.p);
    const vl zero = (x == 1.) | (x == 2.);
    const vd below = select(s == 0., inf, log(select(s == 0., wide(1), pi / select(s < 0., -s, s))) - y);
    return select((x == 0.) | (x == inf) | (x == -inf), inf,
                  select(x < 0., below, select(zero, wide(0), select(x == x, y, x))));
}
SINTER_INLINE vd digamma(vd x) {
    const vd inf = wide(__builtin_inf()), r = x - round(x), s = sine_of_pi(r);
    const raised u = raise(select(x < 0., 1. - x, x));
    const vd w = 1. / u.z;
    const vd series =
        w * w * polynomial(w * w, wide(-1. / 12), 691. / 32760, -1. / 132, 1. / 240, -1. / 252, 1. / 120, -1. / 12);
    const vd y = log(u.z) - 0.5 * w + series - u.d1 / u.p;
    const vd below = select(s == 0., wide(__builtin_nan("")), y - pi * cosine_of_pi(r) / s);
    return select(x == inf, inf, select(x < 0., below, select(x == x, y, x)));
}
SINTER_INLINE vd trigamma(vd x) {
    const vd r = x - round(x), s = sine_of_pi(r);
    const raised u = raise(select(x < 0., 1. - x, x));
    const vd w = 1. / u.z, first = u.d1 / u.p;
    const vd series =
        w * polynomial(w * w, wide(7. / 6), -691. / 2730, 5. / 66, -1. / 30, 1. / 42, -1. / 30, 1. / 6, 1.);
    const vd y = series + 0.5 * w * w + (first * first - u.d2 / u.p);
    return select(x < 0., pi * pi / (s * s) - y, select(x == 0., wide(__builtin_inf()), y));
}
} // namespace detail

/// log |gamma(x)| within 1 ULP, but within 1e-15 of its zeros below 0; infinite at 0, -1, -2, ...
/// and at infinities.
SINTER_INLINE vf lgamma_by_doubles(vf x) {
    return to_floats(detail::lgamma(low_doubles(x)), detail::lgamma(high_doubles(x)));
}
/// The derivative of lgamma within 1 ULP (but see there); infinite at zeros, of their opposite
/// sign; NaN at -1, -2, ...
SINTER_INLINE vf digamma(vf x) { return to_floats(detail::digamma(low_doubles(x)), detail::digamma(high_doubles(x))); }
/// The derivative of digamma within 1 ULP; infinite at 0, -1, -2, ...
SINTER_INLINE vf trigamma(vf x) {
    return to_floats(detail::trigamma(low_doubles(x)), detail::trigamma(high_doubles(x)));
}

} // namespace sinter::cpu
