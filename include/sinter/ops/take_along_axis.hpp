// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/gather.hpp>

/// take_along_axis(x, indices, axis): of x's extents but along the axis, where the indices' count; y[.., i, ..] = x[..,
/// indices[.., i, ..], ..]. What argsort and argmax (with its axis kept) name. ONNX: GatherElements.
namespace sinter {

namespace ops {

/// Do indices agree with x but for one axis, and are they below its extent?
constexpr bool along_axis(const op_name& k, const shape& x, tensor indices, int axis) {
    const shape i = indices.shape();
    bool fits = axis >= 0 && i.rank == x.rank;
    for (int a = 0; fits && a < x.rank; ++a) fits = a == axis || i.d[a] == x.d[a];
    if (fits) return are_indices(k, indices, x.d[axis]);
    indices.g->fail(fault_kind::shapes_not_broadcastable, k, i, x);
    return false;
}

constexpr tensor take_along_axis(tensor x, tensor indices, int axis) {
    if (!x.ok() || !indices.ok()) return {x.g ? x.g : indices.g, -1};
    x = unpack(x);
    shape s = x.shape();
    axis = axis_of(s, axis);
    if (!along_axis(op::gather, s, indices, axis)) return {x.g, -1};
    if (indices.shape().batched && !s.batched) {
        if (not_floats(op::gather, x)) return {x.g, -1};
        s.batched = true;
        x = broadcast_to(x, s);
    }
    const axis_parts a(s, axis);
    const int count = indices.shape().d[axis];
    return make<op::gather>(x.g, with_extent(s, axis, count), {x, indices}, {a.outer, a.n, a.inner, count, count * a.inner, a.inner, 1});
}

} // namespace ops
using ops::take_along_axis;

} // namespace sinter
