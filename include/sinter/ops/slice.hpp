// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/heavy.hpp>

/// slice(x, axis, first, n): elements first .. first + n - 1 along an axis (without the batch; -1 is the last). ONNX:
/// Slice.
namespace sinter {

namespace op {
inline constexpr op_name slice{"slice"}, insert{"insert"};
}

/// p = {outer, extent * inner of x, first * inner, n * inner, axis, first} of one example.
template <>
struct rule<op::slice> : heavy_rule {
    static constexpr const char* name = "slice";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({r.n.p[1], r.n.p[2], r.n.p[3]});
        k.by_example(r.y(), r.n.p[0]);
    }
    static constexpr void gradient(gradient_of& g);
};
/// Zeros with the operand in the place that the slice came from.
template <>
struct rule<op::insert> : heavy_rule {
    static constexpr const char* name = "insert";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({r.n.p[1], r.n.p[2], r.n.p[3]});
        k.by_example(r.y(), r.n.p[0]);
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

constexpr tensor slice(tensor x, int axis, int first, int n) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    if (axis < 0) axis += s.rank;
    if (axis < 0 || axis >= s.rank || first < 0 || n < 1 || first + n > s.d[axis])
        return fail(x.g, fault_kind::axis_out_of_range, op::slice, s, s);
    int outer = 1, inner = 1;
    for (int i = 0; i < s.rank; ++i) {
        if (i < axis) outer *= s.d[i];
        if (i > axis) inner *= s.d[i];
    }
    shape out = s;
    out.d[axis] = n;
    return make<op::slice>(x.g, out, {x}, {outer, s.d[axis] * inner, first * inner, n * inner, axis, first});
}

} // namespace ops
using ops::slice;

constexpr void rule<op::insert>::gradient(gradient_of& g) {
    g.add(0, ops::slice(g.d, g.n().p[4], g.n().p[5], g.x(0).shape().d[g.n().p[4]]));
}

constexpr void rule<op::slice>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::insert>(g.g, g.x(0).shape(), {g.d}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4], n.p[5]}));
}

} // namespace sinter
