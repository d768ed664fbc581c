// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Hyperbolic tangent within 3 ULP, also where x and the result are tiny. With e = (e^(2|x|) - 1) /
/// 2 it is e / (e + 1); the form 1 - 2 / (e^2x + 1) would lose all relative accuracy near zero.
SINTER_INLINE vf tanh(vf x) {
    const reduced t = reduce_exp<2>(min(splat(10.f), absolute(x)));
    const vf e = fma(t.expm1, t.scale, fma(t.scale, splat(0.5f), splat(-0.5f)));
    return with_sign(e / (e + 1.f), x);
}

} // namespace sinter::cpu
