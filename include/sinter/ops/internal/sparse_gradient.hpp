// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/shape.hpp>

/// A max-pool's gradient whose windows overlap or hang over an edge lies spread out, but most of it
/// is zero: do a convolution's gradients skip that by lists of the rest? They read a vector for
/// every multiply-add, and the lists must be made. Measured with vectors of eight lanes; those of
/// sixteen gain, too.
namespace sinter::inline SINTER_TARGET::detail {

/// The pool attribute of a gradient that is read so: the window of a pool of single elements.
inline constexpr int sparse_gradient_list = 1;

/// Lanes run along a row of taps and channels.
constexpr bool lists_weight_gradient(int lanes, int kh, int kw, int ci) {
    const int row = (kw * ci + lanes - 1) / lanes;   // tenths of cycles an element, a fifth of which are not zero
    return kh * kw > 1 && 12 * kh * row + 190 < 65 * kh * kw * ci / lanes;
}
/// Lanes run along channels that come in.
constexpr bool lists_input_gradient(int lanes, int kh, int kw, int ci) {
    return kh * kw > 1 && ci >= lanes && ci * 10 >= (ci + lanes - 1) / lanes * lanes * 6;
}

} // namespace sinter::detail
