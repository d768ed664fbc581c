// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/pick_lanes.hpp>

/// Functions of which sixteen equal pieces are a polynomial each. A vector of sixteen lanes holds one coefficient of all pieces, and
/// one instruction beside the load hands each lane its own: short polynomials take the place of a long one, or of several of which
/// each lane uses one. Only where `has_tables`.
namespace sinter::cpu {

/// 0 <= t < 15.5 / PerUnit: the piece around the multiple of 1 / PerUnit that is nearest to t, and how far t is from there.
struct piece {
    vi index;   ///< its last four bits count
    vf rest;
};
template <int PerUnit>
SINTER_INLINE piece find_piece(vf t) {
    const vf magic = splat(0x1.8p23f), shifted = fma(t, splat(static_cast<float>(PerUnit)), magic);   // rounds to an integer
    return {(vi)shifted, fma(shifted - magic, splat(-1.f / PerUnit), t)};
}
/// Its polynomial: coefficients from the highest power down, of all pieces each.
template <int N>
SINTER_INLINE vf of_piece(const piece& p, const float (&coefficients)[N][16]) {
    vf sum = pick_lanes(load(coefficients[0]), p.index);
    for (int k = 1; k < N; ++k) sum = fma(sum, p.rest, pick_lanes(load(coefficients[k]), p.index));
    return sum;
}

} // namespace sinter::cpu
