// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/tensor.hpp>

namespace sinter {

constexpr tensor reduce_to(tensor d, const shape& s);   ///< sums d over the axes along which s was stretched (ops/sum.hpp)

/// What an op's gradient rule is given, and where it leaves the operands' gradients.
struct gradient_of {
    graph* g;
    growing<int>& sums;        ///< node -> node of its gradient so far, or -1
    const growing<bool>& wanted;
    int id;
    tensor d;                  ///< gradient of the op's result

    constexpr node n() const { return g->n[id]; }   ///< a copy: the array moves when it grows
    constexpr tensor y() const { return {g, id}; }
    constexpr tensor x(int i) const { return {g, g->n[id].in[i]}; }
    constexpr bool wants(int i) const { return wanted[g->n[id].in[i]]; }   ///< does anybody need operand i's gradient?

    /// Adds `v` to operand i's gradient; axes along which the operand was stretched are summed away.
    constexpr void add(int i, tensor v) const;
};

} // namespace sinter
