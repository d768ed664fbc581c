// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>

/// Integers near x, exact for all floats; zeros keep their sign, infinities and NaN stay.
namespace sinter::inline SINTER_TARGET::cpu {

/// The nearest, of two the even one. Adding 2^23 leaves no bits behind the point; what is as large
/// has none itself.
SINTER_INLINE vf round(vf x) {
    const vf size = absolute(x), magic = splat(0x1p23f);
    return select(size < magic, with_sign((size + magic) - magic, x), x);
}
SINTER_INLINE vf floor(vf x) {
    const vf r = round(x);
    return select(r > x, r - 1.f, r);
}
SINTER_INLINE vf ceil(vf x) {
    const vf r = round(x);
    return select(r < x, with_sign(absolute(r + 1.f), x), r);   // -0.75 gives -0
}
SINTER_INLINE vf trunc(vf x) {
    const vf size = absolute(x), r = round(size);
    return with_sign(select(r > size, r - 1.f, r), x);
}

/// The nearest number of eight bits (bfloat16), of two the even one; NaN stays NaN, with its sign.
SINTER_INLINE vf round_to_bfloat16(vf x) {
    const vu bits = (vu)x, odd = (bits >> 16) & 1u;
    const vf near =
        (vf)((bits + 0x7fffu + odd) & 0xffff0000u);   // carries into the exponent, and from the largest to infinity
    return select(x == x, near, (vf)((bits | 0x00400000u) & 0xffff0000u));
}

} // namespace sinter::cpu
