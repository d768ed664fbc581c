// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/slice.hpp>

/// concat({a, b, ...}, axis): the operands one after the other along an axis (without the batch; -1 is the last); all
/// other extents must agree. ONNX: Concat.
namespace sinter {

namespace op { inline constexpr op_name concat{"concat"}; }

/// Two operands; p = {outer, elements of a per outer, elements of b per outer} of one example.
template <>
struct rule<op::concat> : heavy_rule {
    static constexpr const char* name = "concat";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({r.n.p[1], r.n.p[2]});
        k.by_example(r.y(), r.n.p[0]);
    }
    static constexpr void gradient(gradient_of& g) {
        const int axis = g.n().p[3], n = g.x(0).shape().d[axis];
        if (g.wants(0)) g.add(0, ops::slice(g.d, axis, 0, n));
        if (g.wants(1)) g.add(1, ops::slice(g.d, axis, n, g.x(1).shape().d[axis]));
    }
};

namespace ops {

constexpr tensor concat(tensor a, tensor b, int axis = -1) {
    if (!a.ok() || !b.ok()) return {a.g ? a.g : b.g, -1};
    a = unpack(a);
    b = unpack(b);
    const shape x = a.shape(), y = b.shape();
    if (axis < 0) axis += x.rank;
    bool fits = x.rank == y.rank && x.batched == y.batched && x.type == y.type && axis >= 0 && axis < x.rank;
    int outer = 1, inner = 1;
    for (int i = 0; fits && i < x.rank; ++i) {
        if (i != axis && x.d[i] != y.d[i]) fits = false;
        if (i < axis) outer *= x.d[i];
        if (i > axis) inner *= x.d[i];
    }
    if (!fits) return fail(a.g, fault_kind::concat_extents_differ, op::concat, y, x);
    shape s = x;
    s.d[axis] += y.d[axis];
    return make<op::concat>(a.g, s, {a, b}, {outer, x.d[axis] * inner, y.d[axis] * inner, axis});
}
constexpr tensor concat(std::initializer_list<tensor> t, int axis = -1) {
    tensor r = *t.begin();
    for (auto p = t.begin() + 1; p != t.end(); ++p) r = concat(r, *p, axis);
    return r;
}

} // namespace ops

} // namespace sinter
