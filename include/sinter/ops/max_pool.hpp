// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/get_output.hpp>
#include <sinter/ops/detail/pool.hpp>

/// max_pool(x, k, {stride, padding, rounding}): the largest of each window, channel by channel, of
/// rows [W, C], images [H, W, C] and volumes [D, H, W, C]. The first of equal elements (row by row)
/// is the winner and takes the whole gradient; NaN wins. ONNX: MaxPool.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name max_pool{"max_pool"}, max_pool_gradient{"max_pool_gradient"},
    max_pool_winners{"max_pool_winners"};
}

/// Attributes: see detail/pool.hpp. Second result (get_output 1): the winner's place in its window,
/// one byte each.
template <>
struct rule<op::max_pool> : root_op_rule {
    static constexpr op_role role = op_role::max_pool;
    static constexpr const char* name = "max_pool";
    static constexpr long flops(const node& n, const node*) {
        return static_cast<long>(n.s.size()) * n.p[pool_attribute::kh] * n.p[pool_attribute::kw];
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::pool_extents(r, k, r.x(0), r.y());
        k.second_result = true;
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: gradient of the pooled values, winners. Zero wherever an element won no window.
template <>
struct rule<op::max_pool_gradient> : root_op_rule {
    static constexpr op_role role = op_role::max_pool_gradient;
    static constexpr const char* name = "max_pool_gradient";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::pool_extents(r, k, r.y(), r.x(0));
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: images, winners. Of each window the element at the place that won: the gradient of
/// max_pool_gradient.
template <>
struct rule<op::max_pool_winners> : root_op_rule {
    static constexpr const char* name = "max_pool_winners";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::pool_extents(r, k, r.x(0), r.y());
    }
    static constexpr void gradient(gradient_of& g);
};
namespace ops {
constexpr tensor max_pool(tensor x, per_axis k, window o) {
    constexpr int most = 255;   // a winner's place in its window must fit into a byte
    if (x.ok() && 1. * k.d[1] * k.d[2] > most)
        return fail(x.g, fault_kind::window_out_of_range, op::max_pool, extents(k.d[1], k.d[2]), extents(15, 15));
    return pool<op::max_pool>(x, k, o);
}
}

constexpr void rule<op::max_pool>::gradient(gradient_of& g) {
    shape w = g.n().s;
    w.type = dtype::u8;
    const tensor winners = make<op::get_output>(g.g, w, {g.y()}, {1});
    g.add(0, detail::pool_like<op::max_pool_gradient>(g, g.x(0).shape(), {g.d, winners}));
}
constexpr void rule<op::max_pool_gradient>::gradient(gradient_of& g) {
    if (g.wants(0)) g.add(0, detail::pool_like<op::max_pool_winners>(g, g.x(0).shape(), {g.d, g.x(1)}));
}
constexpr void rule<op::max_pool_winners>::gradient(gradient_of& g) {
    if (g.wants(0)) g.add(0, detail::pool_like<op::max_pool_gradient>(g, g.x(0).shape(), {g.d, g.x(1)}));
}

} // namespace sinter
