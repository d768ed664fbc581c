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

/// p = {KH, KW, stride, rows above, columns left, pool window}; operands x, w.
template <>
struct rule<op::conv> : heavy_rule {
    static constexpr const char* name = "conv2d";
    static constexpr long flops(const node& n, const node* in) {
        return 2L * n.s.size() * n.p[0] * n.p[1] * in[0].s.last();
    }
    static constexpr void gradient(gradient_of& g) {
        const node n = g.n();
        const tensor x = g.x(0), w = g.x(1);
        if (g.wants(0)) {
            const tensor t = make(g.g, op::conv_transpose, w.shape(), {w});
            g.add(0, make(g.g, op::conv_input_gradient, x.shape(), {g.d, t}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4]}));
        }
        if (g.wants(1))
            g.add(1, make(g.g, op::conv_weight_gradient, w.shape(), {x, g.d}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4]}));
    }
};
/// Operands: gradient, transposed weights[, winners of the pool that the gradient came through: then p[5] is its window].
template <>
struct rule<op::conv_input_gradient> : heavy_rule {
    static constexpr const char* name = "conv2d_input_gradient";
    static constexpr long flops(const node& n, const node* in) {
        return 2L * in[0].s.size() * n.p[0] * n.p[1] * n.s.last();
    }
};
/// Operands: x, gradient[, winners].
template <>
struct rule<op::conv_weight_gradient> : heavy_rule {
    static constexpr const char* name = "conv2d_weight_gradient";
    static constexpr long flops(const node& n, const node* in) {
        return 2L * in[1].s.size() * n.p[0] * n.p[1] * in[0].s.last();
    }
};
/// Weights with input and output channels exchanged, in the layout that the input gradient's kernel wants.
template <>
struct rule<op::conv_transpose> : heavy_rule {
    static constexpr const char* name = "conv2d_transpose_weights";
    static constexpr bool epilogue = false;
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
    return make(x.g, op::conv, y, {x, pack(w)}, {k.d[0], k.d[1], o.stride, v.before, h.before});
}

} // namespace ops

} // namespace sinter
