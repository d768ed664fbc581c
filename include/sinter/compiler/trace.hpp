// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/compiler/loss.hpp>
#include <sinter/compiler/name_ports.hpp>
#include <sinter/compiler/traced.hpp>

/// Tracing: runs the expression on symbolic tensors, then the loss.
namespace sinter::inline SINTER_TARGET::detail {

/// A net may return what was there before, or a view of it: as an output it gets memory of its own.
/// Outputs are floats.
constexpr tensor as_output(tensor y) {
    y = ops::to_float(ops::plain(y));
    int base = y.id;
    while (is_view(y.g->n[base])) base = y.g->n[base].in[0];
    return is_leaf(y.g->n[base]) || y.g->n[base].loop || y.g->n[base].k == op::loop_begin
               ? make<op::broadcast>(y.g, y.shape(), {y})
               : y;
}

/// `first_of_round`: the scalar that is 0 in the first step of those whose gradients are added up;
/// -1: each step is on its own.
template <class Net, class Loss>
constexpr void trace_all(graph& g, program_mode mode, int first_of_round) {
    g.set_mode(mode);
    bundle y;
    if constexpr (requires { Net::trace(g); }) y = Net::trace(g);
    else return g.fail(fault_kind::input_missing, op::input, extents(), extents());
    for (int i = 0; i < y.n; ++i) {
        if (!y[i].ok()) return;
        if (g.named.n) name_output(g, i, y[i].id);
        y.t[i] = ops::plain(y[i]);
        g.outputs.push(as_output(y[i]).id);
    }
    check_port_names(g);
    if (mode == program_mode::prediction) return;
    const target_list wanted = targets_of<Loss>(y.n);
    bundle t;
    t.g = &g;
    for (int i = 0; i < wanted.n; ++i) t.t[t.n++] = make_target(g, y, wanted.at[i]);
    if constexpr (constexpr target_names names = names_of_targets<Loss>(); names.n > 0) name_targets(g, wanted, names);
    const weighted_values values = call_loss<Loss, Net>(y, t);
    const tensor l = reduce_loss(values, reduction_of<Loss>());
    if (!l.ok()) return;
    g.loss = l.id;
    if (first_of_round >= 0 && mode == program_mode::training)
        gather_loss(l, values, reduction_of<Loss>(), first_of_round);
}
} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

/// Traces Net and, but for prediction, Loss. Outputs and loss are left in g.
template <class Net, class Loss>
constexpr void trace(graph& g, program_mode mode, int first_of_round = -1) {
    detail::trace_all<Net, Loss>(g, mode, first_of_round);
    g.scope = 0;   // no single layer is to blame
    if (g.n.n > most_nodes) g.fail(fault_kind::program_too_large, op::none, extents(g.n.n), extents(most_nodes));
}

/// Gradients of two parameters may be one node, or no computed node at all, or the net's output or
/// a state's new value besides; each needs a place of its own.
constexpr void separate(graph& g, growing<int>& gradients) {
    growing<int> seen(g.n.n + 2 * gradients.n + 2, 0);
    auto taken = [&](int v) {
        while (v >= 0 && is_view(g.n[v])) v = g.n[v].in[0];
        if (v >= 0) seen[v] = 1;
    };
    taken(g.loss);
    taken(g.loss_weight);
    for (int i = 0; i < g.outputs.n; ++i) taken(g.outputs[i]);
    for (int i = 0; i < g.assignments.n; ++i) taken(g.assignments[i].value);
    for (int i = 0; i < gradients.n; ++i) {
        int& d = gradients[i];
        if (d < 0) continue;
        int base = d;
        while (is_view(g.n[base])) base = g.n[base].in[0];
        if (is_leaf(g.n[base]) || g.n[base].loop || g.n[base].k == op::loop_begin || seen[base])
            d = make<op::broadcast>(&g, g.n[d].s, {tensor{&g, d}}, {i + 1}).id;
        else seen[base] = 1;
    }
}

/// Where gradients are in buckets, gives a table's row-sparse gradient that is read for something
/// else, too, a node of its own: it can then be a list of rows, and the other one stays the
/// batch's.
constexpr void separate_row_sparse(graph& g, growing<int>& gradients) {
    growing<bool> read(g.n.n, false);
    for (int v = 0; v < g.n.n; ++v)
        for (int k = 0; k < g.n[v].operands; ++k)
            if (g.n[v].in[k] >= 0) read[g.n[v].in[k]] = true;
    for (int i = 0; i < gradients.n; ++i) {
        int& d = gradients[i];
        if (d < 0 || !is(g.n[d], op_role::scatter_rows) || g.n[d].loop || !read[d]) continue;
        node copy = g.n[d];
        copy.p[scatter_rows_attribute::copy] = 1;
        d = g.push(copy);
    }
}

} // namespace sinter::compiler
