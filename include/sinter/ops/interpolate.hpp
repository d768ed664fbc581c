// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/strides.hpp>

/// interpolate(x, axis, n, corners): n places along an axis (without the batch) instead of those
/// that it has, each between the two old ones around it. Places' centres lie at halves (PyTorch's
/// align_corners=False, Keras; outside of the outermost centres all goes on unchanged), or, under
/// corners::aligned, the outermost places lie on one another. ONNX: Resize (linear).
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name interpolate{"interpolate"}, interpolate_gradient{"interpolate_gradient"};
}

/// In node::p: old places along the axis, numbers at each, new places, and whether the outermost
/// places lie on one another.
namespace interpolate_attribute { enum : int { outer, from, inner, to, aligned }; }
namespace interpolate_extent { enum : int { from, inner, to, aligned }; }   // in call::e

namespace detail {
constexpr void interpolation_extents(const kernel_request& r, kernel_extents& k) {
    const int* const p = r.n.p;
    k.set({{interpolate_extent::from, p[interpolate_attribute::from]},
           {interpolate_extent::inner, p[interpolate_attribute::inner]},
           {interpolate_extent::to, p[interpolate_attribute::to]},
           {interpolate_extent::aligned, p[interpolate_attribute::aligned]}});
    k.by_example(r.y(), p[interpolate_attribute::outer]);
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

/// aligned: the first and last pixels keep their places (PyTorch's align_corners).
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
    g.add(0, make<op::interpolate_gradient>(g.g, g.x(0).shape(), {g.d}, n.p));
}
constexpr void rule<op::interpolate_gradient>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::interpolate>(g.g, g.x(0).shape(), {g.d}, n.p));
}

} // namespace sinter
