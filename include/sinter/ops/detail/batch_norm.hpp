// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/custom_gradient.hpp>
#include <sinter/ops/detail/multiply_add.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/rsqrt.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>

/// What batch_norm is made of in training. Its arrays seldom stay in cache, so it goes over them as few times as it can: behind a
/// product or a convolution both statistics are that kernel's sums and one walk is left; the gradient's sums belong to the kernel that
/// makes its operand, and one walk is left there, too.
namespace sinter::inline SINTER_TARGET::detail {

struct batch_normalized {
    tensor y, mean, variance;   ///< mean and variance of each channel
};

/// Over all axes but the last, without views of other extents: graphs of many layers count their nodes.
constexpr tensor channel_sums(tensor x) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    if (!s.batched || s.rank == 0) return fail(x.g, fault_kind::axis_out_of_range, op::row_sum, s, s);
    return make<op::col_sum>(x.g, extents(s.last()), {x});
}
/// a / the number of pixels in a batch, of `of`'s extents.
constexpr tensor over_pixels(tensor a, const shape& of, float sign = 1) {
    return ops::over_batch(a * (sign / static_cast<float>(of.size() / of.last())));
}

/// Is x the result of a kernel that does elementwise work and sums of columns behind it?
constexpr bool follows_product(tensor x) {
    const node* n = &x.at();
    while (n->k == op::add || is_view(*n)) n = &x.g->n[n->in[0]];   // a bias lies between
    return is_heavy(*n) && n->about->epilogue;
}

/// Operands of the node: y, x, gamma, beta, mean, 1 / deviation, scale = gamma / deviation, shift = beta - mean scale. dx is
/// scale (d - mean of d - (x - mean) mean of d (x - mean) / variance).
template <bool Shifted>   ///< y is x scale + shift, and x - mean is stored nowhere
constexpr void leave_batch_norm_gradients(gradient_of& g) {
    const tensor x = g.x(1), mean = g.x(4), r = g.x(5), scale = g.x(6);
    tensor d = g.d;
    // The kernel that makes d reads x for its sums: what relu was given is found there again, bit by bit, without reading y.
    if (const node n = d.at(); Shifted && n.k == op::relu_gradient && g.g->n[n.in[1]].k == op::relu && g.g->n[n.in[1]].in[0] == g.result.id)
        d = make<op::relu_gradient>(g.g, n.s, {tensor{g.g, n.in[0]}, ops::multiply_add(scale, x, g.x(7))});
    const tensor all = channel_sums(d);
    const tensor along = Shifted ? -(channel_sums(d * (mean - x)) * r) : channel_sums(d * (x - mean)) * r;
    g.add(2, along);
    g.add(3, all);
    if (!g.wants(1)) return;
    const tensor by = over_pixels(scale, x.shape(), -1), slope = by * r * along, level = by * all;
    const tensor rest = Shifted ? ops::multiply_add(x, slope, level - mean * slope) : ops::multiply_add(x - mean, slope, level);
    g.add(1, ops::multiply_add(d, scale, rest));
}
template <bool Shifted>
inline constexpr op_info batch_norm_info = [] {
    op_info i = info_of<op::custom_gradient>;
    i.gradient = &leave_batch_norm_gradients<Shifted>;
    return i;
}();

/// `near`: about the mean; the squares of a product's results are those of the distances from it, that their sum loses no digits. While
/// it is still far away (running means begin at 0) rounding may take all of a small variance, which is then taken for the least that such
/// sums can tell from 0.
constexpr batch_normalized batch_normalize(tensor x, tensor gamma, tensor beta, tensor near, float epsilon) {
    if (!x.ok() || !gamma.ok()) return {x, x, x};
    x = ops::plain(x);
    const bool shifted = follows_product(x);
    const tensor c = shifted ? x - near : x, middle = over_pixels(channel_sums(c), x.shape());   // its mean
    const tensor mean = shifted ? near + middle : middle;
    tensor variance, from_mean;
    if (shifted) {
        const tensor square = middle * middle;
        variance = maximum(over_pixels(channel_sums(c * c), x.shape()) - square, square * 1e-6f);
    } else {
        from_mean = x - mean;
        variance = over_pixels(channel_sums(from_mean * from_mean), x.shape());
    }
    const tensor r = ops::rsqrt(variance + epsilon), scale = gamma * r, shift = beta - mean * scale;
    const tensor y = shifted ? ops::multiply_add(x, scale, shift) : ops::multiply_add(from_mean, scale, beta);
    if (!y.ok()) return {y, y, y};
    node n = node_of<op::custom_gradient>();
    n.about = shifted ? &batch_norm_info<true> : &batch_norm_info<false>;
    n.s = y.shape();
    for (const tensor t : {y, x, gamma, beta, mean, r, scale, shift}) n.in[n.operands++] = t.id;
    n.p[0] = x.g->n.n;
    return {{x.g, x.g->push(n)}, mean, variance};
}

} // namespace sinter::detail
