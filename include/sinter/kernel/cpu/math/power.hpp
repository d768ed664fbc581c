// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/rounding.hpp>
#include <sinter/kernel/cpu/math/wide.hpp>

namespace sinter::cpu {

/// x^y within 1 ULP, by doubles, with the C library's rules: a negative x needs a whole y (else NaN); x^0 and 1^y are 1 even
/// of NaN.
SINTER_INLINE vf pow(vf x, vf y) {
    const vf size = absolute(x), power = max(splat(-1e30f), min(splat(1e30f), y));   // an infinite y is a large even one
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

} // namespace sinter::cpu
