// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/math/log.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// e^t / 2 for t >= 0: it overflows later than e^t.
SINTER_INLINE vf half_exp(vf t) {
    const reduced r = reduce_exp(min(splat(90.f), t));
    return (r.expm1 + 1.f) * power_of_two(r.n - 2) * 2.f;
}
/// Hyperbolic cosine within 1.5 ULP; infinite beyond 89.4.
SINTER_INLINE vf cosh(vf x) {
    const vf e = half_exp(absolute(x));
    return e + 0.25f / e;
}
/// Hyperbolic sine within 1.7 ULP: a polynomial below 1, where the exponentials would cancel.
SINTER_INLINE vf sinh(vf x) {
    const vf t = absolute(x), z = t * t, e = half_exp(t);
    const vf near = fma(t * z, polynomial(z, splat(2.78221319e-06f), 0.000198428956f, 0.00833331048f, 0.166666672f), t);
    return with_sign(select(t < 1.f, near, e - 0.25f / e), x);
}

/// Inverse hyperbolic sine within 2.2 ULP, also where x is tiny. Where x^2 would overflow it is
/// log(2x).
SINTER_INLINE vf asinh(vf x) {
    const vf t = absolute(x), z = t * t;
    const vi far = t > 1e9f;
    const vf y = log1p(select(far, t, t + z / (sqrt(z + 1.f) + 1.f)));
    return with_sign(y + select(far, splat(0.693147182f), zero()), x);
}
/// Inverse hyperbolic cosine within 2.4 ULP, near 1 too; NaN below 1.
SINTER_INLINE vf acosh(vf x) {
    const vf t = x - 1.f;
    const vi far = x > 1e9f;
    const vf y = log1p(select(far, x, t + sqrt(t * (t + 2.f)))) + select(far, splat(0.693147182f), zero());
    return select(x >= 1.f, y, splat(__builtin_nanf("")));
}
/// Inverse hyperbolic tangent within 2.6 ULP; infinite at 1 and -1, NaN beyond.
SINTER_INLINE vf atanh(vf x) {
    const vf t = absolute(x);
    return with_sign(0.5f * log1p(2.f * t / (1.f - t)), x);
}

} // namespace sinter::cpu
