// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/sum.hpp>

/// max(x, {axes}): axes as in sum(), but not the batch, over which only sums are gathered. Where several elements are the largest they share the gradient evenly, as in
/// TensorFlow and PyTorch's amax. ONNX: ReduceMax.
namespace sinter {

namespace detail {
constexpr void max_gradient(gradient_of& g, op sum_of) {
    const tensor x = g.x(0);
    const tensor hit = ops::binary(op::equal, x, ops::broadcast_to(g.y(), x.shape()));
    const node n = g.n();
    const tensor ties = make(g.g, sum_of, g.y().shape(), {hit}, {n.p[0], n.p[1], n.p[2]});
    g.add(0, hit * ops::broadcast_to(g.d / ties, x.shape()));
}
} // namespace detail

template <>
struct rule<op::row_max> : heavy_rule {
    static constexpr op_kind kind = op_kind::row_reduce;
    static constexpr const char* name = "row_max";
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) { detail::max_gradient(g, op::row_sum); }
};
template <>
struct rule<op::middle_max> : heavy_rule {
    static constexpr const char* name = "middle_max";
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) { detail::max_gradient(g, op::middle_sum); }
};

namespace ops {

constexpr tensor max(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    if (!x.ok()) return x;
    const axis_set a = parse_axes(x.shape(), axes);
    if (a.batch) return fail(x.g, fault_kind::batch_axis_refused, op::row_max, x.shape(), x.shape());
    return reduce(op::row_max, op::none, op::middle_max, x, a, k);
}

} // namespace ops
using ops::max;

} // namespace sinter
