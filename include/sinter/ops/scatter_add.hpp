// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/take_along_axis.hpp>

/// scatter_add(x, indices, updates, axis): x[.., indices[.., i, ..], ..] += updates[.., i, ..],
/// each sum in the updates' order. Indices and updates agree, and with x but for the axis.
/// PyTorch's scatter_add. ONNX: ScatterElements, reduction add.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor scatter_add(tensor x, tensor indices, tensor updates, int axis) {
    if (!x.ok() || !indices.ok() || !updates.ok()) return {x.g ? x.g : updates.g, -1};
    x = unpack(x);
    updates = unpack(updates);
    const shape s = x.shape(), u = updates.shape();
    axis = axis_of(s, axis);
    if (not_floats(op::scatter_add, x) || not_floats(op::scatter_add, updates) ||
        !along_axis(op::scatter_add, s, indices, axis))
        return {x.g, -1};
    bool fits = u.rank == s.rank && (u.batched || !indices.shape().batched);
    for (int a = 0; fits && a < u.rank; ++a) fits = u.d[a] == indices.shape().d[a];
    if (!fits) return fail(x.g, fault_kind::shapes_not_broadcastable, op::scatter_add, u, indices.shape());
    const axis_parts a(s, axis);
    const int count = u.d[axis];
    const shape sums = with_extent(u, axis, a.n);
    return x + make<op::scatter_add>(x.g, sums, {indices, updates},
                                     {a.outer, a.n, a.inner, count, count * a.inner, a.inner, 1});
}

} // namespace ops
using ops::scatter_add;

} // namespace sinter
