// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>

/// Doubles, half a vector of floats at a time: for what floats cannot hold on the way to a result
/// that they can.
namespace sinter::inline SINTER_TARGET::cpu {

typedef double vd __attribute__((vector_size(4 * lanes)));
typedef std::uint64_t vul __attribute__((vector_size(4 * lanes)));
typedef std::int64_t vl __attribute__((vector_size(4 * lanes)));
typedef float half_vf __attribute__((vector_size(2 * lanes)));

namespace detail {
#if defined(__AVX512F__)
SINTER_INLINE half_vf low_half(vf v) { return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7); }
SINTER_INLINE half_vf high_half(vf v) { return __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15); }
SINTER_INLINE vf join(half_vf a, half_vf b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
#elif defined(__AVX__)
SINTER_INLINE half_vf low_half(vf v) { return __builtin_shufflevector(v, v, 0, 1, 2, 3); }
SINTER_INLINE half_vf high_half(vf v) { return __builtin_shufflevector(v, v, 4, 5, 6, 7); }
SINTER_INLINE vf join(half_vf a, half_vf b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7); }
#else
SINTER_INLINE half_vf low_half(vf v) { return __builtin_shufflevector(v, v, 0, 1); }
SINTER_INLINE half_vf high_half(vf v) { return __builtin_shufflevector(v, v, 2, 3); }
SINTER_INLINE vf join(half_vf a, half_vf b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3); }
#endif
} // namespace detail

SINTER_INLINE vd low_doubles(vf v) { return __builtin_convertvector(detail::low_half(v), vd); }
SINTER_INLINE vd high_doubles(vf v) { return __builtin_convertvector(detail::high_half(v), vd); }
SINTER_INLINE vf to_floats(vd low, vd high) {
    return detail::join(__builtin_convertvector(low, half_vf), __builtin_convertvector(high, half_vf));
}
SINTER_INLINE vd wide(double s) { return s - vd{}; }
SINTER_INLINE vd select(vl mask, vd yes, vd no) { return (vd)(((vl)yes & mask) | ((vl)no & ~mask)); }

SINTER_INLINE vd polynomial(vd, vd sum) { return sum; }
template <class... C>
SINTER_INLINE vd polynomial(vd x, vd sum, double next, C... rest) {
    return polynomial(x, sum * x + next, rest...);
}

/// Of seven coefficients, in pairs: a shorter chain.
SINTER_INLINE vd short_polynomial(vd x, double c6, double c5, double c4, double c3, double c2, double c1, double c0) {
    const vd square = x * x, a = x * c1 + c0, b = x * c3 + c2, c = x * c5 + c4;
    return square * (square * (square * c6 + c) + b) + a;
}

/// To the nearest integer, |x| < 2^51.
SINTER_INLINE vd round(vd x) {
    const vd magic = wide(0x1.8p52);
    return (x + magic) - magic;
}

/// Natural logarithm of positive, finite, normal doubles to 1e-16.
SINTER_INLINE vd log(vd x) {
    // m in [sqrt(1/2), sqrt(2)) and its power of two; that as a double without a conversion, which
    // AVX2 lacks
    const vul root = (vul)wide(0x1.6a09e667f3bcdp-1), bits = (vul)x - root;
    const vul fraction = (vul)x - (bits & 0xfff0000000000000);
    const vul exponent = (bits + 0x3ff0000000000000) >> 52;   // and 1023, so that its sign need not be shifted
    const vd n = (vd)(exponent | 0x4330000000000000) - wide(0x1p52 + 1023), m = (vd)fraction;
    const vd s = (m - 1.) / (m + 1.), z = s * s;
    const vd p = short_polynomial(z, 0.14790576808075628, 0.15314822453438903, 0.1818352182123863, 0.22222199706046608,
                                  0.28571428727366838, 0.39999999999504454, 0.66666666666667163);
    return n * 0x1.62e42fefa39efp-1 + (s * z * p + 2. * s);
}

/// e^x to 2e-12, |x| <= 700.
SINTER_INLINE vd exp(vd x) {
    const vd magic = wide(0x1.8p52), shifted = x * 0x1.71547652b82fep0 + magic, n = shifted - magic;
    const vd r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
    const vd p = short_polynomial(r, 2.4708219198171788e-05, 0.00019908988584594993, 0.0013889197585360089,
                                  0.0083332817324206152, 0.041666664400073744, 0.1666666678470172, 0.50000000004280776);
    const vd scale = (vd)(((vul)shifted - (vul)magic + 1023) << 52);
    return (r * r * p + r + 1.) * scale;
}

} // namespace sinter::cpu
