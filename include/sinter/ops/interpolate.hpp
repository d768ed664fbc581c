// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/strides.hpp>

/// interpolate(x, axis, n, corners): n places along an axis (without the batch) instead of those that it has, each between the two old
/// ones around it. Places' centres lie at halves (PyTorch's align_corners=False, Keras; outside of the outermost centres all goes on
/// unchanged), or, under corners::aligned, the outermost places lie on one another. ONNX: Resize (linear).
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name interpolate{"interpolate"}, interpolate_gradient{"interpolate_gradient"};
}

namespace detail {
/// p = {outer, old n, inner, new n, corners}: see kernel/interpolation_axis.hpp.
constexpr void interpolation_extents(const kernel_request& r, kernel_extents& k) {
    k.set({r.n.p[1], r.n.p[2], r.n.p[3], r.n.p[4]});
    k.by_example(r.y(), r.n.p[0]);
}
} // namespace detail

template <>
struct rule<op::interpolate> : root_op_rule {
    static constexpr const char* name = "interpolate";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node*) { return 3L * n.s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::interpolation_extents(r, k); }
    static constexpr void gradient(gradient_of& g);
};
/// The other way round: each old place the sum of all that it is a part of.
template <>
struct rule<op::interpolate_gradient> : root_op_rule {
    static constexpr const char* name = "interpolate_gradient";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node&, const node* in) { return 4L * in->s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::interpolation_extents(r, k); }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

enum class corners { free, aligned };

constexpr tensor interpolate(tensor x, int axis, int n, corners c = corners::free) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    axis = axis_of(s, axis);
    if (not_floats(op::interpolate, x)) return {x.g, -1};
    if (axis < 0 || n < 1) return fail(x.g, fault_kind::axis_out_of_range, op::interpolate, s, extents(n));
    if (n == s.d[axis]) return x;
    const axis_parts a(s, axis);
    return make<op::interpolate>(x.g, with_extent(s, axis, n), {x}, {a.outer, a.n, a.inner, n, c == corners::aligned});
}

} // namespace ops
using ops::interpolate;

constexpr void rule<op::interpolate>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::interpolate_gradient>(g.g, g.x(0).shape(), {g.d}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4]}));
}
constexpr void rule<op::interpolate_gradient>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::interpolate>(g.g, g.x(0).shape(), {g.d}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4]}));
}

} // namespace sinter
