// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/tensor.hpp>

/// Kernels that read at computed places check nothing: that integers are places of an axis is
/// known before a program runs. Those of inputs are checked whenever a batch is bound; argmax,
/// argsort, top_k, cast and to_index make such as are below a bound by construction
/// (rule<K>::below); what moves numbers about keeps them as they are. All others are refused:
/// cast(x, n) clamps whatever it is given.
namespace sinter::inline SINTER_TARGET::ops {

/// Are these numbers below n? Inputs that they were copied from are made to be.
constexpr bool bound_indices(compiler::graph& g, int id, int n) {
    const compiler::node x = g.n[id];
    if (x.k == op::input) {
        if (x.p[input_attribute::also] < 0 || x.p[input_attribute::also] >= n)
            return false;   // a loss's target that may be padding
        if (int& below = g.n[id].p[input_attribute::below]; below == 0 || below > n) below = n;
        return true;
    }
    if (const int below = x.about->below(x); below > 0) return below <= n;
    if (!x.about->moves || x.s.type != dtype::i32) return false;
    for (int i = 0; i < x.operands; ++i)
        if (!bound_indices(g, x.in[i], n)) return false;
    return true;
}
/// The most places of an axis that floats can name: each integer up to it is a float.
inline constexpr int most_places_of_floats = 1 << 24;

/// False, with a fault, where an axis is longer.
constexpr bool floats_can_name(compiler::graph& g, const op_name& k, const shape& s, int n,
                               int most = most_places_of_floats) {
    if (n <= most) return true;
    g.fail(fault_kind::places_beyond_floats, k, s, extents(most));
    return false;
}
/// What a computed integer is known to be below; 0 where nothing is known, as of inputs.
constexpr int known_below(const compiler::graph& g, int id) {
    const compiler::node& n = g.n[id];
    if (n.k == op::input) return 0;
    if (const int below = n.about->below(n); below > 0 || !n.about->moves) return below;
    int most = 0;
    for (int i = 0; i < n.operands; ++i)
        if (const int below = known_below(g, n.in[i]); below > most) most = below;
    return most;
}
/// bound_indices, with a fault if they are not below n.
constexpr bool are_indices(const op_name& k, tensor indices, int n) {
    if (indices.shape().type == dtype::i32 && bound_indices(*indices.g, indices.id, n)) return true;
    indices.g->fail(fault_kind::wrong_element_type, k, indices.shape(), indices.shape());
    return false;
}

} // namespace sinter::ops
