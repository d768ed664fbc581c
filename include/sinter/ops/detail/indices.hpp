// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/tensor.hpp>

/// Kernels that read at computed places check nothing: that whole numbers are places of an axis is known before a program
/// runs. Those of inputs are checked whenever a batch is bound; argmax, argsort, top_k, cast and to_index make such as are below a bound
/// by construction (rule<K>::below); what moves numbers about keeps them as they are. All others are refused: cast(x, n)
/// clamps whatever it is given.
namespace sinter::inline SINTER_TARGET::ops {

/// Are these numbers below n? Inputs that they were copied from are made to be.
constexpr bool bound_indices(graph& g, int id, int n) {
    const node x = g.n[id];
    if (x.k == op::input) {
        if (x.p[3] < 0 || x.p[3] >= n) return false;   // a loss's target that may be padding
        if (int& below = g.n[id].p[1]; below == 0 || below > n) below = n;
        return true;
    }
    if (const int below = x.about->below(x); below > 0) return below <= n;
    if (!x.about->moves || x.s.type != dtype::i32) return false;
    for (int i = 0; i < x.operands; ++i)
        if (!bound_indices(g, x.in[i], n)) return false;
    return true;
}
/// The same, a fault if they are not.
constexpr bool are_indices(const op_name& k, tensor indices, int n) {
    if (indices.shape().type == dtype::i32 && bound_indices(*indices.g, indices.id, n)) return true;
    indices.g->fail(fault_kind::wrong_element_type, k, indices.shape(), indices.shape());
    return false;
}

} // namespace sinter::ops
