// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/strides.hpp>

/// cumsum(x, axis, {exclusive, reverse}): sums of the elements up to and with each one along an axis (without the batch);
/// exclusive: without it, so that the first is 0; reverse: from the end. ONNX: CumSum.
namespace sinter::inline SINTER_TARGET {

struct running_options {
    bool exclusive = false, reverse = false;
};

namespace op { inline constexpr op_name cumsum{"cumsum"}; }

namespace detail {
/// Along the n of [outer, n, inner]: p = {outer, n, inner, exclusive (or ahead: see linear_scan), reverse}.
constexpr void scan_extents(const kernel_request& r, kernel_extents& k) {
    k.set({r.n.p[1], r.n.p[2], r.n.p[3], r.n.p[4]});
    k.by_example(r.y(), r.n.p[0]);
}
} // namespace detail

template <>
struct rule<op::cumsum> : root_op_rule {
    static constexpr const char* name = "cumsum";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node*) { return n.s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::scan_extents(r, k); }
    static constexpr void gradient(gradient_of& g) {
        const node n = g.n();
        g.add(0, make<op::cumsum>(g.g, n.s, {g.d}, {n.p[0], n.p[1], n.p[2], n.p[3], !n.p[4]}));
    }
};

namespace ops {

template <op_id K>
constexpr tensor cumulate(tensor x, int axis, running_options o) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    axis = axis_of(s, axis);
    if (not_floats(info_of<K>.self, x)) return {x.g, -1};
    if (axis < 0) return fail(x.g, fault_kind::axis_out_of_range, info_of<K>.self, s, s);
    const axis_parts a(s, axis);
    return make<K>(x.g, s, {x}, {a.outer, a.n, a.inner, o.exclusive, o.reverse});
}
constexpr tensor cumsum(tensor x, int axis = -1, running_options o = {}) { return cumulate<op::cumsum>(x, axis, o); }

} // namespace ops
using ops::cumsum;

} // namespace sinter
