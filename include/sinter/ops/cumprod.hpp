// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/linear_scan.hpp>

/// cumprod(x, axis, {exclusive, reverse}): products of the elements up to and with each one along
/// an axis (without the batch); exclusive: without it, so that the first is 1; reverse: from the
/// end. Its gradient divides by nothing, so zeros do not matter. ONNX: CumProd.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name cumprod{"cumprod"}; }

template <>
struct rule<op::cumprod> : root_op_rule {
    static constexpr const char* name = "cumprod";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node*) { return n.s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::scan_extents(r, k); }
    static constexpr void gradient(gradient_of& g) {
        // element i: the product before it, times d_i + x_{i+1} (d_{i+1} + x_{i+2} (...)) (one
        // further on if exclusive)
        const node n = g.n();
        const bool exclusive = n.p[scan_attribute::exclusive], reverse = n.p[scan_attribute::reverse];
        const tensor before = detail::scan_like<op::cumprod>(g.g, n, n.s, {g.x(0)}, true, reverse);
        const tensor d = exclusive ? ops::shifted_along(g.d, n, !reverse) : g.d;
        g.add(0, before * detail::scan_like<op::linear_scan>(g.g, n, n.s, {d, g.x(0)}, true, !reverse));
    }
};

namespace ops {
constexpr tensor cumprod(tensor x, int axis = -1, running_options o = {}) { return cumulate<op::cumprod>(x, axis, o); }
}
using ops::cumprod;

} // namespace sinter
