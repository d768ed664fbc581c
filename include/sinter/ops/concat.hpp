// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/slice.hpp>

/// concat({a, b, ...}, axis): the operands one after the other along an axis (without the batch; -1
/// is the last); all other extents must agree. ONNX: Concat.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name concat{"concat"}; }

inline constexpr int concat_at_once = 4;   ///< operands of one copy

/// In node::p, of one example: elements of each operand per outer.
namespace concat_attribute { enum : int { outer, parts, axis = parts + concat_at_once }; }
/// In call::e: the same elements, and how many operands there are.
namespace concat_extent { enum : int { parts, operands = concat_at_once }; }
/// Elements of all operands together.
constexpr std::int64_t concat_columns(const std::int64_t* e) {
    std::int64_t all = 0;
    for (int i = 0; i < concat_at_once; ++i) all += e[concat_extent::parts + i];
    return all;
}

/// Two to four operands.
template <>
struct rule<op::concat> : root_op_rule {
    static constexpr op_role role = op_role::concat;
    static constexpr const char* name = "concat";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        for (int i = 0; i < concat_at_once; ++i) k.e[concat_extent::parts + i] = r.n.p[concat_attribute::parts + i];
        k.e[concat_extent::operands] = r.n.operands;
        k.by_example(r.y(), r.n.p[concat_attribute::outer]);
    }
    static constexpr void gradient(gradient_of& g) {
        const node n = g.n();
        const int axis = n.p[concat_attribute::axis];
        for (int i = 0, first = 0; i < n.operands; ++i) {
            const int extent = g.x(i).shape().d[axis];
            if (g.wants(i)) g.add(i, ops::slice(g.d, axis, first, extent));
            first += extent;
        }
    }
};

namespace ops {

constexpr tensor concat(const tensor* t, int n, int axis) {
    if (n == 1) return unpack(t[0]);
    compiler::graph* g = t[0].g;
    tensor x[concat_at_once];
    int p[compiler::max_attributes] = {};
    for (int k = 0; k < n; ++k) {
        if (!t[k].ok()) return {g ? g : t[k].g, -1};
        x[k] = unpack(t[k]);
    }
    shape s = x[0].shape();
    axis = axis_of(s, axis);
    for (int k = 0; k < n; ++k) {
        const shape own = x[k].shape();
        bool fits = axis >= 0 && own.rank == s.rank && own.batched == s.batched && own.type == s.type;
        for (int i = 0; fits && i < s.rank; ++i) fits = i == axis || own.d[i] == s.d[i];
        if (!fits) return fail(g, fault_kind::concat_extents_differ, op::concat, own, x[0].shape());
        const std::int64_t all = k ? std::int64_t{s.d[axis]} + own.d[axis] : s.d[axis];
        if (all > 0x7fffffff) return fail(g, fault_kind::tensor_too_large, op::concat, own, extents(0x7fffffff));
        s.d[axis] = static_cast<int>(all);
        p[concat_attribute::parts + k] = own.d[axis] * axis_parts(own, axis).inner;
    }
    p[concat_attribute::outer] = axis_parts(s, axis).outer;
    p[concat_attribute::axis] = axis;
    if (n == 2) return make<op::concat>(g, s, {x[0], x[1]}, p);
    if (n == 3) return make<op::concat>(g, s, {x[0], x[1], x[2]}, p);
    return make<op::concat>(g, s, {x[0], x[1], x[2], x[3]}, p);
}
constexpr tensor concat(tensor a, tensor b, int axis = -1) {
    if (!a.ok() || !b.ok()) return {a.g ? a.g : b.g, -1};
    const tensor t[] = {a, b};
    return concat(t, 2, axis);
}
/// More than four are put together by fours, so that nothing is copied often.
constexpr tensor concat(base::view<const tensor> t, int axis) {
    base::growing<tensor> all;
    for (const tensor& x : t) all.push(x);
    while (all.n > 1) {
        int n = 0;
        for (int i = 0; i < all.n; i += concat_at_once)
            all[n++] = concat(all.p + i, all.n - i < concat_at_once ? all.n - i : concat_at_once, axis);
        all.n = n;
    }
    return all[0];
}
constexpr tensor concat(std::initializer_list<tensor> t, int axis = -1) {
    return concat(base::view<const tensor>{t.begin(), static_cast<int>(t.size())}, axis);
}

} // namespace ops
using ops::concat;

} // namespace sinter
