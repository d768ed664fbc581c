// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/max_pool.hpp>

/// avg_pool(x, k, {stride, padding}): the mean of each k x k window, channel by channel; padding is not counted (Keras'
/// rule; PyTorch counts it by default). ONNX: AveragePool, count_include_pad 0.
namespace sinter {

/// p = {k, stride, rows above, columns left}.
template <>
struct rule<op::avg_pool> : heavy_rule {
    static constexpr const char* name = "avg_pool";
    static constexpr long flops(const node& n, const node*) { return static_cast<long>(n.s.size()) * n.p[0] * n.p[0]; }
    static constexpr void gradient(gradient_of& g) {
        const node n = g.n();
        g.add(0, make(g.g, op::avg_pool_gradient, g.x(0).shape(), {g.d}, {n.p[0], n.p[1], n.p[2], n.p[3]}));
    }
};
template <>
struct rule<op::avg_pool_gradient> : heavy_rule {
    static constexpr const char* name = "avg_pool_gradient";
};

namespace ops {
constexpr tensor avg_pool(tensor x, int k, window o) { return pool(op::avg_pool, x, k, o); }
}

} // namespace sinter
