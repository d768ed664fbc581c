// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/cumsum.hpp>
#include <sinter/ops/fill.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/slice.hpp>

/// linear_scan(a, c, axis, reverse): y_i = a_i + c_i y_{i-1} along an axis (without the batch),
/// y_{-1} being 0; reverse: y_{i+1} instead, from the end. The recurrence of running means,
/// discounted sums and linear state spaces. ONNX: none (Scan).
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name linear_scan{"linear_scan"}; }

/// Attributes as cumsum's. Ahead: the element before brings its own coefficient, y_i = a_i +
/// c_{i-1} y_{i-1}.
template <>
struct rule<op::linear_scan> : root_op_rule {
    static constexpr const char* name = "linear_scan";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node*) { return 2L * n.s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::scan_extents(r, k); }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

/// Element i is x's element i - 1 along the n of [outer, n, inner], or i + 1 where `back`; the
/// first, or last, is 0.
constexpr tensor shifted_along(tensor x, const compiler::node& scan, bool back) {
    const int n = scan.p[scan_attribute::n];
    if (n == 1) return fill_like(x, 0);
    const shape s = x.shape();
    x = reshape(x, extents(scan.p[scan_attribute::outer], n, scan.p[scan_attribute::inner]));
    const shape parts = x.shape();
    box b(parts);
    b.n[1] = n - 1;
    b.first[1] = back;
    const tensor most = slice(x, b);
    b.first[1] = !back;
    return reshape(boxed<op::insert>(most, parts, parts, b), s);
}
constexpr tensor linear_scan(tensor a, tensor c, int axis = -1, bool reverse = false) {
    if (!a.ok() || !c.ok()) return {a.g ? a.g : c.g, -1};
    a = plain(a);
    c = plain(c);
    shape s;
    if (not_floats(op::linear_scan, a) || not_floats(op::linear_scan, c)) return {a.g, -1};
    if (!compiler::broadcast_shape(a.shape(), c.shape(), s))
        return fail(a.g, fault_kind::shapes_not_broadcastable, op::linear_scan, a.shape(), c.shape());
    axis = axis_of(s, axis);
    if (axis < 0) return fail(a.g, fault_kind::axis_out_of_range, op::linear_scan, s, s);
    const axis_parts p(s, axis);
    return make<op::linear_scan>(a.g, s, {broadcast_to(a, s), broadcast_to(c, s)}, {p.outer, p.n, p.inner, 0, reverse});
}

} // namespace ops
using ops::linear_scan;

constexpr void rule<op::linear_scan>::gradient(gradient_of& g) {
    const node n = g.n();
    const bool ahead = n.p[scan_attribute::ahead], reverse = n.p[scan_attribute::reverse];
    const tensor d = detail::scan_like<op::linear_scan>(g.g, n, n.s, {g.d, g.x(1)}, !ahead, !reverse);
    g.add(0, d);
    if (!g.wants(1)) return;
    g.add(1, ahead ? ops::shifted_along(d, n, !reverse) * g.y() : d * ops::shifted_along(g.y(), n, reverse));
}

} // namespace sinter
