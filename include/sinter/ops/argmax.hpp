// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/cast.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/sum.hpp>

/// argmax(x, axis): int32, the place of the largest element along an axis (without the batch),
/// which vanishes or stays as 1 under keep::yes; the first of equal ones, and the first NaN if
/// there is one. Flatten first for the place among all. No gradient flows. The numbers are known to
/// be places of the axis: gather and one_hot take them. ONNX: ArgMax.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name argmax{"argmax"}; }

namespace argmax_attribute { enum : int { outer, n, inner, smallest }; }   // in node::p
namespace argmax_extent { enum : int { n, inner, smallest }; }             // in call::e

template <>
struct rule<op::argmax> : root_op_rule {
    static constexpr const char* name = "argmax";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const int* const p = r.n.p;
        k.set({{argmax_extent::n, p[argmax_attribute::n]}, {argmax_extent::inner, p[argmax_attribute::inner]},
               {argmax_extent::smallest, p[argmax_attribute::smallest]}});
        k.by_example(r.y(), p[argmax_attribute::outer]);
    }
    static constexpr int below(const node& n) { return n.p[argmax_attribute::n]; }
};

namespace ops {

constexpr tensor arg_extreme(tensor x, int axis, keep k, bool smallest) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    axis = axis_of(s, axis);
    if (not_floats(op::argmax, x)) return {x.g, -1};
    if (axis < 0) return fail(x.g, fault_kind::axis_out_of_range, op::argmax, s, s);
    const axis_parts a(s, axis);
    shape out = k == keep::yes ? with_extent(s, axis, 1) : without_axis(s, axis);
    out.type = dtype::i32;
    return make<op::argmax>(x.g, out, {x}, {a.outer, a.n, a.inner, smallest});
}
constexpr tensor argmax(tensor x, int axis = -1, keep k = keep::no) { return arg_extreme(x, axis, k, false); }

} // namespace ops
using ops::argmax;

} // namespace sinter
