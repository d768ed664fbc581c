// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/cast.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/sum.hpp>

/// argmax(x, axis): int32, the place of the largest element along an axis (without the batch), which vanishes or stays as 1 under
/// keep::yes; the first of equal ones, and the first NaN if there is one. Flatten first for the place among all. No gradient
/// flows. The numbers are known to be places of the axis: gather and one_hot take them. ONNX: ArgMax.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name argmax{"argmax"}; }

/// p = {outer, n, inner, smallest instead?}.
template <>
struct rule<op::argmax> : root_op_rule {
    static constexpr const char* name = "argmax";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({r.n.p[1], r.n.p[2], r.n.p[3]});
        k.by_example(r.y(), r.n.p[0]);
    }
    static constexpr int below(const node& n) { return n.p[1]; }
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
