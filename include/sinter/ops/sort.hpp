// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/get_output.hpp>
#include <sinter/ops/take_along_axis.hpp>

/// sort(x, axis, order): the elements along an axis (without the batch) by size; equal ones stay in
/// their order, NaN counts as larger than everything. The gradient goes back to where an element
/// came from. ONNX: TopK of all.
namespace sinter::inline SINTER_TARGET {

enum class order { ascending, descending };

namespace op { inline constexpr op_name sort{"sort"}; }

namespace sort_attribute { enum : int { outer, n, inner, count, descending }; }   // in node::p
namespace sort_extent { enum : int { n, inner, count, descending }; }             // in call::e
namespace sort_operand { enum : int { from, places, values }; }                   // in call::p

/// The first `count` of the sorted elements. Second result (get_output 1): their places, int32.
template <>
struct rule<op::sort> : root_op_rule {
    static constexpr const char* name = "sort";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node&, const node* in) {   // comparisons
        long steps = 1;
        while (1 << steps < in->s.size()) ++steps;
        return steps * in->s.size();
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const int* const p = r.n.p;
        k.set({{sort_extent::n, p[sort_attribute::n]},
               {sort_extent::inner, p[sort_attribute::inner]},
               {sort_extent::count, p[sort_attribute::count]},
               {sort_extent::descending, p[sort_attribute::descending]}});
        k.by_example(r.y(), p[sort_attribute::outer]);
        k.second_result = true;
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

struct sorted {
    tensor values, indices;
};

constexpr tensor places_of(tensor sorted) {
    shape s = sorted.shape();
    s.type = dtype::i32;
    return sorted.ok() ? make<op::get_output>(sorted.g, s, {sorted}, {1, sorted.at().p[sort_attribute::n]}) : sorted;
}
constexpr tensor first_of_sorted(tensor x, int k, int axis, order o) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    axis = axis_of(s, axis);
    if (not_floats(op::sort, x)) return {x.g, -1};
    if (axis < 0 || k < 1 || k > s.d[axis]) return fail(x.g, fault_kind::axis_out_of_range, op::sort, s, extents(k));
    const axis_parts a(s, axis);
    return make<op::sort>(x.g, with_extent(s, axis, k), {x}, {a.outer, a.n, a.inner, k, o == order::descending});
}
constexpr tensor sort(tensor x, int axis = -1, order o = order::ascending) {
    const int a = axis_of(x.shape(), axis);
    return first_of_sorted(x, a < 0 ? 1 : x.shape().d[a], axis, o);
}

} // namespace ops
using ops::sort;

constexpr void rule<op::sort>::gradient(gradient_of& g) {
    const node n = g.n();
    const int inner = n.p[sort_attribute::inner], count = n.p[sort_attribute::count];
    g.add(0, make<op::scatter_add>(
                 g.g, g.x(0).shape(), {ops::places_of(g.y()), g.d},
                 {n.p[sort_attribute::outer], n.p[sort_attribute::n], inner, count, count * inner, inner, 1}));
}

} // namespace sinter
