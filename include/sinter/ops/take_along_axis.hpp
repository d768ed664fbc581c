// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/gather.hpp>

/// take_along_axis(x, indices, axis): of x's extents but along the axis, where the indices' count;
/// y[.., i, ..] = x[.., indices[.., i, ..], ..]. Other axes of extent 1 are stretched, on either
/// side. What argsort and argmax (with its axis kept) name. ONNX: GatherElements.
namespace sinter::inline SINTER_TARGET {

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
    shape s = x.shape(), i = indices.shape();
    axis = axis_of(s, axis);
    bool fits = axis >= 0 && i.rank == s.rank;
    for (int a = 0; fits && a < s.rank; ++a) {
        fits = a == axis || i.d[a] == s.d[a] || i.d[a] == 1 || s.d[a] == 1;
        if (a != axis && s.d[a] == 1) s.d[a] = i.d[a];
    }
    if (!fits) return fail(x.g, fault_kind::shapes_not_broadcastable, op::gather, i, x.shape());
    if (!are_indices(op::gather, indices, s.d[axis])) return {x.g, -1};
    s.batched = s.batched || i.batched;
    if (!(s == x.shape())) {
        if (not_floats(op::gather, x)) return {x.g, -1};
        x = broadcast_to(x, s);
    }
    // indices that are the same all along the axes before, or behind, are read with a step of 0
    const axis_parts a(s, axis), own(i, axis);
    const int count = i.d[axis];
    if ((own.outer != 1 && own.outer != a.outer) || (own.inner != 1 && own.inner != a.inner)) {
        shape full = with_extent(s, axis, count);
        full.type = dtype::i32, full.batched = i.batched;
        indices = make<op::expand>(x.g, full, {indices});
        return take_along_axis(x, indices, axis);
    }
    return make<op::gather>(
        x.g, with_extent(s, axis, count), {x, indices},
        {a.outer, a.n, a.inner, count, own.outer == 1 ? 0 : count * own.inner, own.inner, own.inner == 1 ? 0 : 1});
}

} // namespace ops
using ops::take_along_axis;

} // namespace sinter
