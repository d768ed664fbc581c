// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/tensor.hpp>
#include <sinter/graph/rules.hpp>

namespace sinter::inline SINTER_TARGET {

constexpr tensor reduce_to(tensor d,
                           const shape& s);   ///< sums d over the axes along which s was stretched (ops/sum.hpp)

/// What an op's gradient rule is given, and where it leaves the operands' gradients. Within a
/// checkpoint or a loop the result and the operands that the rule sees are stand-ins, and what it
/// leaves belongs to the originals.
struct gradient_of {
    compiler::graph* g;
    compiler::node seen;                             ///< with the operands that the rule may read
    tensor result, d;                      ///< the op's result, and that one's gradient
    tensor further[2] = {};   ///< the gradients of its second and third result, where the rule takes them: none if
                              ///< nobody asks, and then there may be none of the first
    bool wanted[compiler::max_operands] = {};
    tensor left[compiler::max_operands] = {};        ///< the gradients so far

    constexpr compiler::node n() const { return seen; }
    constexpr tensor y() const { return result; }
    constexpr tensor x(int i) const { return {g, seen.in[i]}; }
    constexpr bool wants(int i) const { return wanted[i]; }   ///< does anybody need operand i's gradient?

    /// Adds `v` to operand i's gradient; axes along which the operand was stretched are summed
    /// away.
    constexpr void add(int i, tensor v);

    /// Says that there is no such gradient.
    constexpr void refuse() const { refuse(seen); }
    constexpr void refuse(const compiler::node& n) const { g->fail(fault_kind::no_gradient, n.about->self, n.s, n.s); }
};

constexpr void root_op_rule::gradient(gradient_of& g) { g.refuse(); }

} // namespace sinter
