// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/convolution.hpp>
#include <sinter/ops/internal/sparse_gradient.hpp>

/// conv2d(x, w, {stride, padding, dilation, groups}): x [H, W, CI], w [KH, KW, CI / groups, CO] ->
/// [OH, OW, CO] (cross-correlation, as everywhere in the field); see detail/window.hpp for the
/// window. Dense windows of one stride, the usual case, have kernels of their own, to which all
/// extents are constants; everything else is a convolution(). ONNX: Conv, NHWC after transposition.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name conv{"conv2d"}, conv_input_gradient{"conv2d_input_gradient"},
    conv_weight_gradient{"conv2d_weight_gradient"}, conv_transpose{"conv2d_transpose_weights"};
}

/// In node::p. Of a gradient that came through a pool: that pool's window, and the convolution's
/// own rows and columns.
namespace conv_attribute { enum : int { kh, kw, stride, above, left, pool, rows, columns }; }
/// In spec::extents of the dense kernels; pool: the window of a max-pool in the same kernel.
namespace conv_fixed { enum : int { H, W, CI, OH, OW, CO, kh, kw, stride, above, left, pool }; }
namespace transposed_weights_fixed { enum : int { kh, kw, CI, CO }; }   // in spec::extents
/// In call::e of winograd's kernels.
namespace winograd_extent { enum : int { H, W, CI, OH, OW, CO, above, left }; }

namespace detail {
/// What the kernels of a convolution of x into y are told; `pool`: the window of a max-pool in the
/// same kernel, or 0.
constexpr void conv_extents(const kernel_request& r, kernel_extents& k, const shape& x, const shape& y, int pool) {
    const int* const p = r.n.p;
    k.set_fixed({x.d[0], x.d[1], x.d[2], y.d[0], y.d[1], y.d[2], p[conv_attribute::kh], p[conv_attribute::kw],
                 p[conv_attribute::stride], p[conv_attribute::above], p[conv_attribute::left], pool});
    k.by_example(r.x(0), 1);
}
/// The kernels of winograd.hpp for the convolution of x into y, if they are the faster ones. Their
/// extents are told at run time.
constexpr bool by_winograd(const kernel_request& r, kernel_extents& k, const shape& x, const shape& y, int above,
                           int left) {
    const int pool = r.pool ? r.pool->p[pool_attribute::kh] : 0,
              tile = r.winograd.tile(x, y, r.n.p[conv_attribute::kh], r.n.p[conv_attribute::kw],
                                     r.n.p[conv_attribute::stride], pool);
    if (!tile) return false;
    k.set_fixed({0, tile, r.n.p[conv_attribute::kh], pool});
    k.set({{winograd_extent::H, x.d[0]}, {winograd_extent::W, x.d[1]}, {winograd_extent::CI, x.d[2]},
           {winograd_extent::OH, y.d[0]}, {winograd_extent::OW, y.d[1]}, {winograd_extent::CO, y.d[2]},
           {winograd_extent::above, above}, {winograd_extent::left, left}});
    k.by_example(r.x(0), 1);
    return true;
}
/// Is each pixel of the result made of one pixel, in their order?
constexpr bool is_pointwise(const node& n) {
    const int* const p = n.p;
    return p[conv_attribute::kh] == 1 && p[conv_attribute::kw] == 1 && p[conv_attribute::stride] == 1 &&
           p[conv_attribute::above] == 0 && p[conv_attribute::left] == 0 && p[conv_attribute::pool] == 0;
}
/// The convolution's output where its gradient came through a pool.
constexpr shape before_pool(shape pooled, const node& n) {
    if (n.p[conv_attribute::pool]) pooled.d[0] = n.p[conv_attribute::rows], pooled.d[1] = n.p[conv_attribute::columns];
    return pooled;
}
/// The pool that the kernel of a gradient is told of; none, where that gradient lies spread out and
/// lists of it do not pay.
constexpr int pool_of(const node& n, bool lists_pay) {
    return n.operands == 2 && !lists_pay ? 0 : n.p[conv_attribute::pool];
}
} // namespace detail

/// Operands x, w.
template <>
struct rule<op::conv> : root_op_rule {
    static constexpr op_role role = op_role::convolution;
    static constexpr const char* name = "conv2d";
    static constexpr bool product = true;
    static constexpr long flops(const node& n, const node* in) {
        return 2L * n.s.size() * n.p[conv_attribute::kh] * n.p[conv_attribute::kw] * in[0].s.last();
    }
    static constexpr bool follows_rows(const node& n) { return detail::is_pointwise(n); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.second_result = r.pool != nullptr;
        if (detail::by_winograd(r, k, r.x(0), r.y(), r.n.p[conv_attribute::above], r.n.p[conv_attribute::left])) return;
        detail::conv_extents(r, k, r.x(0), r.y(), r.pool ? r.pool->p[pool_attribute::kh] : 0);
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: gradient, transposed weights[, winners of the pool that the gradient came through].
/// Without winners the pool attribute may say that most of the gradient is zero.
template <>
struct rule<op::conv_input_gradient> : root_op_rule {
    static constexpr op_role role = op_role::convolution_input_gradient;
    static constexpr const char* name = "conv2d_input_gradient";
    static constexpr bool product = true;
    static constexpr long flops(const node& n, const node* in) {
        return 2L * in[0].s.size() * n.p[conv_attribute::kh] * n.p[conv_attribute::kw] * n.s.last();
    }
    static constexpr bool follows_rows(const node& n) { return detail::is_pointwise(n); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const int* const p = r.n.p;
        const int pool = detail::pool_of(r.n, detail::lists_input_gradient(r.winograd.lanes, p[conv_attribute::kh],
                                                                           p[conv_attribute::kw], r.y().d[2]));
        if (!pool && detail::by_winograd(r, k, r.x(0), r.y(), p[conv_attribute::kh] - 1 - p[conv_attribute::above],
                                         p[conv_attribute::kw] - 1 - p[conv_attribute::left]))
            return;
        detail::conv_extents(r, k, r.y(), detail::before_pool(r.x(0), r.n), pool);
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: x, gradient[, winners].
template <>
struct rule<op::conv_weight_gradient> : root_op_rule {
    static constexpr op_role role = op_role::convolution_weights_gradient;
    static constexpr const char* name = "conv2d_weight_gradient";
    static constexpr bool product = true;
    static constexpr bool sums_rows = true;
    static constexpr long flops(const node& n, const node* in) {
        return 2L * in[1].s.size() * n.p[conv_attribute::kh] * n.p[conv_attribute::kw] * in[0].s.last();
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const int* const p = r.n.p;
        const int pool = detail::pool_of(r.n, detail::lists_weight_gradient(r.winograd.lanes, p[conv_attribute::kh],
                                                                            p[conv_attribute::kw], r.x(0).d[2]));
        if (!pool && detail::by_winograd(r, k, r.x(0), r.x(1), p[conv_attribute::above], p[conv_attribute::left]))
            return;
        detail::conv_extents(r, k, r.x(0), detail::before_pool(r.x(1), r.n), pool);
    }
    static constexpr void gradient(gradient_of& g);
};
/// Weights with input and output channels exchanged, in the layout that the input gradient's kernel
/// wants. Its node keeps the extents of the weights themselves, and so does its gradient: nobody
/// else ever sees the exchanged form.
template <>
struct rule<op::conv_transpose> : root_op_rule {
    static constexpr op_role role = op_role::convolution_weights_transpose;
    static constexpr const char* name = "conv2d_transpose_weights";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const shape& w = r.y();   // one axis of taps or two
        k.set_fixed({w.rank == 4 ? w.d[0] : 1, w.d[w.rank - 3], w.d[w.rank - 2], w.last()});
    }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d); }
};

namespace ops {

/// Are the dense kernels enough? They know one stride, no dilation, no groups.
constexpr bool is_dense(const sliding& v, const sliding& h, int groups) {
    const bool one_stride = v.stride == h.stride || v.out == 1 || h.out == 1;
    return groups == 1 && one_stride && (v.dilation == 1 || v.k == 1) && (h.dilation == 1 || h.k == 1);
}
/// x [H, W, CI] by the dense kernels; w has KH * KW * CI rows, whatever its axes.
constexpr tensor dense_conv2d(tensor x, tensor w, const sliding& v, const sliding& h) {
    shape y = x.shape();
    y.d[0] = v.out;
    y.d[1] = h.out;
    y.d[2] = w.shape().last();
    return make<op::conv>(x.g, y, {x, pack(w)}, {v.k, h.k, v.out == 1 ? h.stride : v.stride, v.before, h.before});
}

constexpr tensor conv2d(tensor x, tensor w, window o = {}) {
    if (!x.ok() || !w.ok()) return {x.g ? x.g : w.g, -1};
    if (not_floats(op::conv, x) || not_floats(op::conv, w)) return {x.g, -1};
    x = plain(x);
    const shape s = x.shape(), k = w.shape();
    shape y;
    if (!convolved(x.g, op::conv, s, k, o, 2, y)) return {x.g, -1};
    const sliding v(s.d[0], k.d[0], o, 1), h(s.d[1], k.d[1], o, 2);
    return is_dense(v, h, o.groups) ? dense_conv2d(x, w, v, h) : convolution(x, w, o);
}

} // namespace ops

namespace detail {
/// One of the dense kernels' ops with the attributes of another.
template <op_id K>
constexpr tensor conv_like(const gradient_of& g, const shape& s, tensor a, tensor b) {
    const node n = g.n();
    const int* const p = n.p;   // but not what is said of a pool
    return make<K>(g.g, s, {a, b}, {p[conv_attribute::kh], p[conv_attribute::kw], p[conv_attribute::stride],
                                    p[conv_attribute::above], p[conv_attribute::left]});
}
constexpr tensor conv_input_gradient(const gradient_of& g, const shape& x, tensor d, tensor w) {
    return conv_like<op::conv_input_gradient>(g, x, d, make<op::conv_transpose>(g.g, w.shape(), {w}));
}
} // namespace detail

constexpr void rule<op::conv>::gradient(gradient_of& g) {
    const tensor x = g.x(0), w = g.x(1);
    if (g.wants(0)) g.add(0, detail::conv_input_gradient(g, x.shape(), g.d, w));
    if (g.wants(1)) g.add(1, detail::conv_like<op::conv_weight_gradient>(g, w.shape(), x, g.d));
}
constexpr void rule<op::conv_input_gradient>::gradient(gradient_of& g) {   // linear in both, as the convolution is
    const tensor d = g.x(0), exchanged = g.x(1), w{g.g, exchanged.at().in[0]};
    if (g.wants(0)) g.add(0, detail::conv_like<op::conv>(g, d.shape(), g.d, w));
    if (g.wants(1)) g.add(1, detail::conv_like<op::conv_weight_gradient>(g, w.shape(), g.d, d));
}
constexpr void rule<op::conv_weight_gradient>::gradient(gradient_of& g) {
    const tensor x = g.x(0), d = g.x(1), e = ops::pack(g.d);
    if (g.wants(0)) g.add(0, detail::conv_input_gradient(g, x.shape(), d, e));
    if (g.wants(1)) g.add(1, detail::conv_like<op::conv>(g, d.shape(), x, e));
}

} // namespace sinter
