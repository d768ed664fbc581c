// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/sum.hpp>

/// max(x, {axes}): axes as in sum(), the batch's too. Where several elements are the largest they
/// share the gradient evenly, as in TensorFlow and PyTorch's amax. ONNX: ReduceMax.
namespace sinter::inline SINTER_TARGET {

namespace detail {
template <op_id SumOf>
constexpr void max_gradient(gradient_of& g) {
    const tensor x = g.x(0);
    const tensor hit = ops::binary<op::equal>(x, ops::broadcast_to(g.y(), x.shape()));
    const node n = g.n();
    const tensor ties = make<SumOf>(g.g, g.y().shape(), {hit}, n.p);
    g.add(0, hit * ops::broadcast_to(g.d / ties, x.shape()));
}
} // namespace detail

namespace op {
inline constexpr op_name row_max{"row_max"}, middle_max{"middle_max"};
}

template <>
struct rule<op::row_max> : root_op_rule {
    static constexpr op_kind kind = op_kind::row_reduce;
    static constexpr const char* name = "row_max";
    static constexpr bool steps = true;
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) { detail::max_gradient<op::row_sum>(g); }
};
template <>
struct rule<op::middle_max> : root_op_rule {
    static constexpr const char* name = "middle_max";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::middle_extents(r, k); }
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) { detail::max_gradient<op::middle_sum>(g); }
};

namespace ops {

struct max_ops {
    static constexpr op_id row = op::row_max, columns = op::middle_max, middle = op::middle_max;
};

constexpr tensor max(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    return x.ok() ? reduce<max_ops>(x, parse_axes(x.shape(), axes), k) : x;
}

} // namespace ops
using ops::max;

} // namespace sinter
