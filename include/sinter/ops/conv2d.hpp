// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/heavy.hpp>

/// conv2d(x, w, {stride, padding}): x [H, W, CI], w [KH, KW, CI, CO] -> [OH, OW, CO] (cross-correlation, as everywhere
/// in the field). `same`: OH = ceil(H / stride), padding split evenly with the odd row below and the odd column to the
/// right (TensorFlow's rule); `valid`: no padding. ONNX: Conv, NHWC after transposition.
namespace sinter {

enum class padding { same, valid };
struct window {
    int stride = 1;
    sinter::padding padding = sinter::padding::same;
    bool operator==(const window&) const = default;
};

/// Extents of a window sliding along one axis.
struct sliding {
    int out = 0, before = 0;   ///< positions; padding before the first element
    constexpr sliding(int extent, int k, int stride, padding p) {
        if (p == padding::valid) {
            out = extent < k ? 0 : (extent - k) / stride + 1;
        } else {
            out = (extent + stride - 1) / stride;
            const int total = (out - 1) * stride + k - extent;
            before = total > 0 ? total / 2 : 0;
        }
    }
};

namespace op {
inline constexpr op_name conv{"conv2d"}, conv_input_gradient{"conv2d_input_gradient"}, conv_weight_gradient{"conv2d_weight_gradient"}, conv_transpose{"conv2d_transpose_weights"};
}

namespace detail {
/// What the kernels of a convolution of x into y are told; `pool`: the window of a max-pool in the same kernel, or 0.
constexpr void conv_extents(const kernel_request& r, kernel_extents& k, const shape& x, const shape& y, int pool) {
    const int* const p = r.n.p;
    k.set_fixed({x.d[0], x.d[1], x.d[2], y.d[0], y.d[1], y.d[2], p[0], p[1], p[2], p[3], p[4], pool});
    k.by_example(r.x(0), 1);
}
/// The convolution's output where its gradient came through a pool: p[5] is that one's window.
constexpr shape before_pool(shape pooled, const node& n) {
    if (n.p[5]) pooled.d[0] = n.p[6], pooled.d[1] = n.p[7];
    return pooled;
}
} // namespace detail

/// p = {KH, KW, stride, rows above, columns left, pool window}; operands x, w.
template <>
struct rule<op::conv> : heavy_rule {
    static constexpr const char* name = "conv2d";
    static constexpr long flops(const node& n, const node* in) {
        return 2L * n.s.size() * n.p[0] * n.p[1] * in[0].s.last();
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::conv_extents(r, k, r.x(0), r.y(), r.pool ? r.pool->p[0] : 0);
        k.second_result = r.pool != nullptr;
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: gradient, transposed weights[, winners of the pool that the gradient came through: then p[5] is its window].
template <>
struct rule<op::conv_input_gradient> : heavy_rule {
    static constexpr const char* name = "conv2d_input_gradient";
    static constexpr long flops(const node& n, const node* in) {
        return 2L * in[0].s.size() * n.p[0] * n.p[1] * n.s.last();
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::conv_extents(r, k, r.y(), detail::before_pool(r.x(0), r.n), r.n.p[5]);
    }
};
/// Operands: x, gradient[, winners].
template <>
struct rule<op::conv_weight_gradient> : heavy_rule {
    static constexpr const char* name = "conv2d_weight_gradient";
    static constexpr long flops(const node& n, const node* in) {
        return 2L * in[1].s.size() * n.p[0] * n.p[1] * in[0].s.last();
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::conv_extents(r, k, r.x(0), detail::before_pool(r.x(1), r.n), r.n.p[5]);
    }
};
/// Weights with input and output channels exchanged, in the layout that the input gradient's kernel wants.
template <>
struct rule<op::conv_transpose> : heavy_rule {
    static constexpr const char* name = "conv2d_transpose_weights";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const int* const d = r.y().d;
        k.set_fixed({d[0], d[1], d[2], d[3]});
    }
};

namespace ops {

constexpr tensor conv2d(tensor x, tensor w, window o = {}) {
    if (!x.ok() || !w.ok()) return {x.g ? x.g : w.g, -1};
    if (not_floats(op::conv, x) || not_floats(op::conv, w)) return {x.g, -1};
    const shape s = x.shape(), k = w.shape();
    if (s.rank != 3 || k.rank != 4)
        return fail(x.g, fault_kind::needs_height_width_channels, op::conv, s, batch_of(k.d[0], k.d[1], k.d[2]));
    if (s.d[2] != k.d[2]) return fail(x.g, fault_kind::inner_extents_differ, op::conv, s, k);
    if (o.stride < 1) return fail(x.g, fault_kind::window_out_of_range, op::conv, extents(o.stride), extents(1));
    const sliding v(s.d[0], k.d[0], o.stride, o.padding), h(s.d[1], k.d[1], o.stride, o.padding);
    if (v.out < 1 || h.out < 1)
        return fail(x.g, fault_kind::window_larger_than_input, op::conv, s, batch_of(k.d[0], k.d[1], s.d[2]));
    shape y = s;
    y.d[0] = v.out;
    y.d[1] = h.out;
    y.d[2] = k.d[3];
    return make<op::conv>(x.g, y, {x, pack(w)}, {k.d[0], k.d[1], o.stride, v.before, h.before});
}

} // namespace ops

constexpr void rule<op::conv>::gradient(gradient_of& g) {
    const node n = g.n();
    const tensor x = g.x(0), w = g.x(1);
    if (g.wants(0)) {
        const tensor t = make<op::conv_transpose>(g.g, w.shape(), {w});
        g.add(0, make<op::conv_input_gradient>(g.g, x.shape(), {g.d, t}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4]}));
    }
    if (g.wants(1))
        g.add(1, make<op::conv_weight_gradient>(g.g, w.shape(), {x, g.d}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4]}));
}

} // namespace sinter
