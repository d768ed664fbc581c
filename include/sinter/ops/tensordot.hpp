// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/matmul.hpp>

/// tensordot(a, b, n): sums over the last n axes of a and the first n of b, in their order: [A...,
/// K...] x [K..., B...] -> [A..., B...]. One matrix product; nothing is moved. Other axes: einsum.
/// ONNX: Einsum.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor tensordot(tensor a, tensor b, int n = 2) {
    if (!a.ok() || !b.ok()) return {a.g ? a.g : b.g, -1};
    const shape x = a.shape(), y = b.shape();
    if (n < 1 || n > x.rank || n > y.rank || x.rank + y.rank - 2 * n > max_rank)
        return fail(a.g, fault_kind::axis_out_of_range, op::matmul, x, y);
    shape s = extents();
    int rows = 1, inner = 1, columns = 1;
    for (int i = 0; i < x.rank - n; ++i) rows *= s.d[s.rank++] = x.d[i];
    for (int i = 0; i < n; ++i) {
        if (x.d[x.rank - n + i] != y.d[i]) return fail(a.g, fault_kind::inner_extents_differ, op::matmul, x, y);
        inner *= y.d[i];
    }
    for (int i = n; i < y.rank; ++i) columns *= s.d[s.rank++] = y.d[i];
    const bool as_it_is = y.rank == 2 && n == 1;   // weights stay packed
    return reshape(matmul(reshape(a, extents(rows, inner)), as_it_is ? b : reshape(b, extents(inner, columns))), s);
}

} // namespace ops
using ops::tensordot;

} // namespace sinter
