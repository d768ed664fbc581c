// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>
#include <sinter/kernel/cpu/vector/pick_lanes.hpp>

/// Functions of which equal pieces are a polynomial each, as many as a vector has lanes: a vector
/// holds one coefficient of all pieces, and one instruction hands each lane its own. Short
/// polynomials take the place of a long one, or of several of which each lane uses one. Only where
/// `picks_lanes`. test/tools/fit_pieces.py fits them.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr int pieces = picks_lanes ? lanes : 16;

/// A function by a polynomial for each piece of its argument. T says how long a piece is:
/// 1 / per_unit; the first has 0 in its middle. T::coefficients are each piece's, from the highest
/// power down, of t's distance from the piece's middle. 0 <= t < (pieces - 0.5) / per_unit.
template <class T>
SINTER_INLINE vf by_pieces(vf t) {
    const rounded_product piece = round_product(t, T::per_unit);
    const vf rest = fma(piece.value, splat(-1.f / T::per_unit), t);
    vf sum = pick_lanes(load(T::coefficients[0]), piece.bits);
    constexpr int n = sizeof T::coefficients / sizeof T::coefficients[0];
    for (int k = 1; k < n; ++k) sum = fma(sum, rest, pick_lanes(load(T::coefficients[k]), piece.bits));
    return sum;
}

} // namespace sinter::cpu
