// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>
#include <sinter/ops/range.hpp>
#include <sinter/ops/relu.hpp>

/// tril(x, k): [..., R, C], zeros above the k-th diagonal (k > 0 lies above the main one). What is
/// cut off does not matter, be it NaN, and gets no gradient. Elementwise, so it joins its
/// neighbours' kernels. ONNX: Trilu.
namespace sinter::inline SINTER_TARGET {

namespace ops {

/// x where its row's number + k is at least its column's, or (Upper) at most; else zero.
template <bool Upper>
constexpr tensor triangle(tensor x, int k) {
    if (!x.ok()) return x;
    x = plain(x);   // the mask below lies as examples do, not as steps
    const shape s = x.shape();
    if (s.rank < 2) return fail(x.g, fault_kind::axis_out_of_range, op::column_index, s, s);
    if (not_floats(op::relu_gradient, x)) return {x.g, -1};
    const int rows = s.d[s.rank - 2], longest = rows > s.last() ? rows : s.last();
    if (!floats_can_name(*x.g, op::column_index, s, longest, most_places_of_floats / 2))
        return {x.g, -1};   // and halves
    const tensor column = column_numbers(x.g, extents(s.last()));
    const tensor row = reshape(column_numbers(x.g, extents(rows)), extents(rows, 1));
    const float edge = static_cast<float>(k) + (Upper ? -0.5f : 0.5f);
    const tensor keeps = Upper ? greater(column, row + edge) : greater(row + edge, column);
    return make<op::relu_gradient>(x.g, s, {x, broadcast_to(keeps, s)});
}
constexpr tensor tril(tensor x, int k = 0) { return triangle<false>(x, k); }

} // namespace ops
using ops::tril;

} // namespace sinter
