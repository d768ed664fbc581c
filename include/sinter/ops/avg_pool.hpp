// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/pool.hpp>

/// avg_pool(x, k, {stride, padding, rounding, count_padding}): the mean of each window, channel by
/// channel, of rows [W, C], images [H, W, C] and volumes [D, H, W, C]. Padding is not counted
/// unless told so (Keras' rule; PyTorch counts it by default). ONNX: AveragePool, with
/// count_include_pad 0 or 1.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name avg_pool{"avg_pool"}, avg_pool_gradient{"avg_pool_gradient"};
}

/// Attributes: see detail/pool.hpp.
template <>
struct rule<op::avg_pool> : root_op_rule {
    static constexpr const char* name = "avg_pool";
    static constexpr long flops(const node& n, const node*) {
        return static_cast<long>(n.s.size()) * n.p[pool_attribute::kh] * n.p[pool_attribute::kw];
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::pool_extents(r, k, r.x(0), r.y());
    }
    static constexpr void gradient(gradient_of& g);
};
template <>
struct rule<op::avg_pool_gradient> : root_op_rule {
    static constexpr const char* name = "avg_pool_gradient";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::pool_extents(r, k, r.y(), r.x(0));
    }
    static constexpr void gradient(gradient_of& g) {
        g.add(0, detail::pool_like<op::avg_pool>(g, g.x(0).shape(), {g.d}));
    }
};

namespace ops {
constexpr tensor avg_pool(tensor x, per_axis k, window o) { return pool<op::avg_pool>(x, k, o); }
}

constexpr void rule<op::avg_pool>::gradient(gradient_of& g) {
    g.add(0, detail::pool_like<op::avg_pool_gradient>(g, g.x(0).shape(), {g.d}));
}

} // namespace sinter
