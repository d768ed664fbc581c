// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/max_pool.hpp>

/// avg_pool(x, k, {stride, padding}): the mean of each k x k window, channel by channel; padding is not counted (Keras'
/// rule; PyTorch counts it by default). ONNX: AveragePool, count_include_pad 0.
namespace sinter {

namespace op {
inline constexpr op_name avg_pool{"avg_pool"}, avg_pool_gradient{"avg_pool_gradient"};
}

/// p = {k, stride, rows above, columns left}.
template <>
struct rule<op::avg_pool> : heavy_rule {
    static constexpr const char* name = "avg_pool";
    static constexpr long flops(const node& n, const node*) { return static_cast<long>(n.s.size()) * n.p[0] * n.p[0]; }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::pool_extents(r, k, r.x(0), r.y()); }
    static constexpr void gradient(gradient_of& g);
};
template <>
struct rule<op::avg_pool_gradient> : heavy_rule {
    static constexpr const char* name = "avg_pool_gradient";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::pool_extents(r, k, r.y(), r.x(0)); }
};

namespace ops {
constexpr tensor avg_pool(tensor x, int k, window o) { return pool<op::avg_pool>(x, k, o); }
}

constexpr void rule<op::avg_pool>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::avg_pool_gradient>(g.g, g.x(0).shape(), {g.d}, {n.p[0], n.p[1], n.p[2], n.p[3]}));
}

} // namespace sinter
