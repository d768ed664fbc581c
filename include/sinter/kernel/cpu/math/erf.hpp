// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>

namespace sinter::cpu {

/// The error function within 2 ULP. Below 1 an odd polynomial, above it 1 - e^-g(|x|) with -log(erfc) fitted by g.
SINTER_INLINE vf erf(vf x) {
    const vf t = min(splat(4.f), absolute(x)), z = t * t;
    const vf near = fma(t, polynomial(z, splat(7.81905619e-05f), -0.000800069305f, 0.0051873927f, -0.0268534217f,
                                      0.112835795f, -0.37612626f, 0.128379166f), t);
    const vf g = polynomial(t, splat(3.97020722e-06f), -3.36140802e-05f, -0.000111543071f, 0.00310433074f,
                            -0.0229613874f, 0.105540752f, 0.635478914f, 0.128584087f);
    const reduced u = reduce_exp(-fma(t, g, t));
    const vf scale = power_of_two(u.n);
    const vf far = 1.f - fma(u.expm1, scale, scale);
    return with_sign(select(t < 1.f, near, far), x);
}

} // namespace sinter::cpu
