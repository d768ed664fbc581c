// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/custom_gradient.hpp>
#include <sinter/ops/detail/pivot_row.hpp>
#include <sinter/ops/detail/multiply_add.hpp>
#include <sinter/ops/internal/batch_share.hpp>
#include <sinter/ops/internal/shard_sum.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/over_global_batch.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/rsqrt.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>

/// What batch_norm is made of in training. Its arrays seldom stay in cache, so it goes over them as
/// few times as it can: one walk for both statistics and one for y; the gradient's sums belong to
/// the kernel that makes its operand, and one walk is left there.
///
/// Sums of x and of x^2 would lose the variance where the mean is large against the deviation. Here
/// each channel is first moved by one of its own values, the pivot: sums of (x - pivot) and (x -
/// pivot)^2 lose no digits to the mean, and those of a constant channel are exactly 0 (Chan, Golub
/// and LeVeque 1983, "Algorithms for computing the sample variance"). Only where the pivot itself
/// lies k deviations from the mean does the variance lose about log10(k^2) digits. It is the middle
/// one of three values, so that a single one far out does not matter. Where the sum of squares is
/// beyond floats, so is the variance.
namespace sinter::inline SINTER_TARGET {

/// Of which batch batch_norm's statistics are: the shard's, where a global batch is divided, or the
/// global one's.
enum class batch_statistics { local, synchronised };

} // namespace sinter
namespace sinter::inline SINTER_TARGET::detail {

struct batch_normalized {
    tensor y, mean, variance;   ///< mean and variance of each channel
};

/// Over all axes but the last, without views of other extents: graphs of many layers count their
/// nodes.
constexpr tensor channel_sums(tensor x) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    if (!s.batched || s.rank == 0) return fail(x.g, fault_kind::axis_out_of_range, op::row_sum, s, s);
    return make<op::col_sum>(x.g, extents(s.last()), {x});
}
/// a / the number of pixels in a batch, of `of`'s extents.
template <batch_statistics S = batch_statistics::local>
constexpr tensor over_pixels(tensor a, const shape& of, float sign = 1) {
    a = a * (sign / static_cast<float>(of.size() / of.last()));
    return S == batch_statistics::local ? ops::over_batch(a) : ops::over_global_batch(a);
}
/// Of a shard's mean over its examples that over all examples, whatever share of them it has.
constexpr tensor mean_over_shards(tensor own) { return shard_sum(ops::unary<op::batch_share>(own)); }

/// Operands of the node: y, x, gamma, beta, mean, 1 / deviation, scale = gamma / deviation. dx is
/// scale (d - mean of d - (x - mean) mean of d (x - mean) / variance). What is made of x is made of
/// mean - x, a node of its own: whoever makes d reads x for its sums, and x - mean is stored
/// nowhere.
///
/// The means are those of all shards where the statistics are; the gradients of beta and gamma are
/// this shard's part, for gradients are added up anyway.
template <batch_statistics S>
constexpr void leave_batch_norm_gradients(gradient_of& g) {
    const tensor x = g.x(1), mean = g.x(4), r = g.x(5), scale = g.x(6), away = mean - x;
    tensor d = g.d;
    // What relu was given is found there again, bit by bit, without reading y.
    if (const node n = d.at();
        n.k == op::relu_gradient && g.g->n[n.in[1]].k == op::relu && g.g->n[n.in[1]].in[0] == g.result.id)
        d = make<op::relu_gradient>(g.g, n.s, {tensor{g.g, n.in[0]}, ops::multiply_add(-scale, away, g.x(3))});
    tensor all = channel_sums(d), away_all = channel_sums(d * away);
    g.add(2, -(away_all * r));
    g.add(3, all);
    if (!g.wants(1)) return;
    if (S == batch_statistics::synchronised) all = shard_sum(all), away_all = shard_sum(away_all);
    const tensor by = over_pixels<S>(scale, x.shape()), slope = by * r * -(away_all * r),
                 level = over_pixels<S>(scale, x.shape(), -1) * all;
    g.add(1, ops::multiply_add(d, scale, ops::multiply_add(away, slope, level)));
}
template <batch_statistics S>
inline constexpr op_info batch_norm_info = [] {
    op_info i = info_of<op::custom_gradient>;
    i.gradient = &leave_batch_norm_gradients<S>;
    return i;
}();

/// Synchronised, a shard's mean and variance become those of all shards as Chan, Golub and LeVeque
/// join them: the variance about the mean of all is the shard's and the square of how far its own
/// mean is from that. So no digits are lost to the mean, and each number is summed once; PyTorch's
/// SyncBatchNorm does the same.
template <batch_statistics S>
constexpr batch_normalized batch_normalize(tensor x, tensor gamma, tensor beta, float epsilon) {
    if (!x.ok() || !gamma.ok()) return {x, x, x};
    x = ops::plain(x);
    const tensor pivot = pivot_row(x), c = x - pivot;
    const tensor middle = over_pixels(channel_sums(c), x.shape());
    tensor mean = pivot + middle;
    tensor variance = maximum(over_pixels(channel_sums(c * c), x.shape()) - middle * middle, 0.f);
    if (S == batch_statistics::synchronised) {
        const tensor own = mean;
        mean = mean_over_shards(own);
        variance = mean_over_shards(variance + (own - mean) * (own - mean));
    }
    const tensor r = ops::rsqrt(variance + epsilon), scale = gamma * r;
    const tensor y = ops::multiply_add(x - mean, scale, beta);
    if (!y.ok()) return {y, y, y};
    node n = node_of<op::custom_gradient>();
    n.about = &batch_norm_info<S>;
    n.s = y.shape();
    for (const tensor t : {y, x, gamma, beta, mean, r, scale}) n.in[n.operands++] = t.id;
    n.p[custom_gradient_attribute::own] = x.g->n.n;
    return {{x.g, x.g->push(n)}, mean, variance};
}

} // namespace sinter::detail
