// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/conv2d.hpp>

/// max_pool(x, k, {stride, padding}): the largest of each k x k window, channel by channel. The first of equal elements
/// (row by row) is the winner and takes the whole gradient. ONNX: MaxPool.
namespace sinter {

namespace op {
inline constexpr op_name max_pool{"max_pool"}, max_pool_gradient{"max_pool_gradient"}, pick{"pick"};
}

namespace detail {
constexpr void pool_extents(const kernel_request& r, kernel_extents& k, const shape& x, const shape& y) {
    const int* const p = r.n.p;
    k.set_fixed({x.d[0], x.d[1], x.d[2], y.d[0], y.d[1], p[0], p[1], p[2], p[3]});
    k.by_example(r.x(0), 1);
}
} // namespace detail

/// p = {k, stride, rows above, columns left}. Second result (pick 1): the winner's place in its window, one byte each.
template <>
struct rule<op::max_pool> : heavy_rule {
    static constexpr const char* name = "max_pool";
    static constexpr long flops(const node& n, const node*) { return static_cast<long>(n.s.size()) * n.p[0] * n.p[0]; }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::pool_extents(r, k, r.x(0), r.y());
        k.second_result = true;
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: gradient of the pooled values, winners. Zero wherever an element won no window.
template <>
struct rule<op::max_pool_gradient> : heavy_rule {
    static constexpr const char* name = "max_pool_gradient";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::pool_extents(r, k, r.y(), r.x(0)); }
};
template <>
struct rule<op::pick> : view_rule {
    static constexpr op_kind kind = op_kind::pick;
    static constexpr const char* name = "pick";
};

namespace ops {

template <op_id K>
constexpr tensor pool(tensor x, int size, window o) {
    constexpr const op_name& k = info_of<K>.self;
    if (!x.ok() || not_floats(k, x)) return {x.g, -1};
    const shape s = x.shape();
    if (s.rank != 3) return fail(x.g, fault_kind::needs_height_width_channels, k, s, batch_of(size, size, 1));
    if (size < 1 || o.stride < 1)
        return fail(x.g, fault_kind::window_out_of_range, k, extents(size, o.stride), extents(1, 1));
    const sliding v(s.d[0], size, o.stride, o.padding), h(s.d[1], size, o.stride, o.padding);
    if (v.out < 1 || h.out < 1) return fail(x.g, fault_kind::window_larger_than_input, k, s, batch_of(size, size, s.d[2]));
    shape y = s;
    y.d[0] = v.out;
    y.d[1] = h.out;
    return make<K>(x.g, y, {x}, {size, o.stride, v.before, h.before});
}
constexpr tensor max_pool(tensor x, int k, window o) {
    constexpr int most = 15;   // a winner's place in its window must fit into a byte
    if (x.ok() && k > most) return fail(x.g, fault_kind::window_out_of_range, op::max_pool, extents(k), extents(most));
    return pool<op::max_pool>(x, k, o);
}

} // namespace ops

constexpr void rule<op::max_pool>::gradient(gradient_of& g) {
    const node n = g.n();
    shape w = n.s;
    w.type = dtype::u8;
    const tensor winners = make<op::pick>(g.g, w, {g.y()}, {1});
    g.add(0, make<op::max_pool_gradient>(g.g, g.x(0).shape(), {g.d, winners}, {n.p[0], n.p[1], n.p[2], n.p[3]}));
}

} // namespace sinter
