// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/scan.hpp>

/// cond(predicate, then, otherwise, operands): then(operands) where the predicate, one number
/// without a batch, is not 0, else otherwise(operands). Only one of the two is computed, in the
/// gradient as well. Both give the same number of tensors with the same extents. For a choice
/// element by element take where(). ONNX: If.
///
/// Each branch is a loop of one iteration or none: what the first leaves is what the second begins
/// with.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name loop_operand{"loop_operand"}; }

/// A value from outside within a branch: what is made of it belongs to the branch.
template <>
struct rule<op::loop_operand> : view_rule {
    static constexpr const char* name = "loop_operand";
    static constexpr bool steps = true;
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d); }
};

namespace detail {

template <class Branch>
constexpr bundle branch(Branch f, tensor count, bundle operands, const bundle* before) {
    constexpr op_name who{"cond"};
    graph& g = *count.g;
    bundle none;
    none.g = &g;
    const int l = open_loop(g, who, {1, count.id});
    if (!l) return none;
    for (int i = 0; i < operands.n; ++i) {
        const tensor x = ops::plain(operands[i]);
        operands.t[i] = loop_view<op::loop_operand>(x, x.shape(), l);
    }
    const bundle y = f(operands);
    bundle result = none;
    if (before && before->n != y.n) g.fail(fault_kind::wrong_number_of_inputs, who, extents(y.n), extents(before->n));
    for (int i = 0; i < y.n; ++i) {
        const tensor v = ops::plain(y[i]);
        if (!v.ok()) return none;
        const shape s = v.shape();
        if (before && (i >= before->n || !((*before)[i].shape() == s))) {
            g.fail(fault_kind::branches_disagree, who, s, (*before)[i].shape());
            return none;
        }
        // extents are known only now, so the carry begins behind the branch
        const int carry = begin_carry(before ? (*before)[i] : ops::broadcast_to(constant(&g, 0.f), s), l);
        result.t[result.n++] = end_carry(v, carry, true);
    }
    g.open_loop = 0;
    return result;
}

} // namespace detail

namespace ops {

template <class Then, class Otherwise>
constexpr bundle cond(tensor predicate, Then then, Otherwise otherwise, bundle operands) {
    if (!predicate.ok() || !operands.ok()) return tensor{operands.g, -1};
    const shape s = predicate.shape();
    if (s.batched || s.size() != 1)
        return fail(predicate.g, fault_kind::batch_axis_refused, op_name("cond"), s, extents());
    const tensor no = equal(reshape(predicate, extents()), 0.f);
    const bundle a = detail::branch(then, 1.f - no, operands, nullptr);
    return a.ok() ? detail::branch(otherwise, no, operands, &a) : a;
}

} // namespace ops
using ops::cond;

} // namespace sinter
