// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/strides.hpp>

/// cumsum(x, axis, {exclusive, reverse}): sums of the elements up to and with each one along an
/// axis (without the batch); exclusive: without it, so that the first is 0; reverse: from the end.
/// ONNX: CumSum.
namespace sinter::inline SINTER_TARGET {

/// exclusive: without the element itself; reverse: from the end.
struct running_options {
    bool exclusive = false, reverse = false;
};

namespace op { inline constexpr op_name cumsum{"cumsum"}; }

/// In node::p and call::e of ops that go along the n of [outer, n, inner]. A linear_scan may go
/// ahead where others are exclusive.
namespace scan_attribute { enum : int { outer, n, inner, exclusive, ahead = exclusive, reverse }; }
namespace scan_extent { enum : int { n, inner, exclusive, ahead = exclusive, reverse }; }
/// In call::p, where only a linear_scan has coefficients; the result is the last.
namespace scan_operand { enum : int { x, coefficients }; }

namespace detail {
constexpr void scan_extents(const kernel_request& r, kernel_extents& k) {
    const int* const p = r.n.p;
    k.set({{scan_extent::n, p[scan_attribute::n]}, {scan_extent::inner, p[scan_attribute::inner]},
           {scan_extent::exclusive, p[scan_attribute::exclusive]}, {scan_extent::reverse, p[scan_attribute::reverse]}});
    k.by_example(r.y(), p[scan_attribute::outer]);
}
/// A scan of s along the axis of node `like`.
template <op_id K>
constexpr tensor scan_like(graph* g, const node& like, const shape& s, std::initializer_list<tensor> in, bool exclusive,
                           bool reverse) {
    const int* const p = like.p;
    return make<K>(g, s, in,
                   {p[axis_attribute::outer], p[axis_attribute::n], p[axis_attribute::inner], exclusive, reverse});
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
        const bool exclusive = n.p[scan_attribute::exclusive], reverse = n.p[scan_attribute::reverse];
        g.add(0, detail::scan_like<op::cumsum>(g.g, n, n.s, {g.d}, exclusive, !reverse));
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
