// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/loss_targets.hpp>
#include <sinter/graph/graph.hpp>

/// Which name belongs to which of a net's outputs and of its loss's targets, and that no name stands
/// for two. Costs nothing where there are none.
namespace sinter::inline SINTER_TARGET::detail {

/// Output `i` of the net is node `id`: if one of the names was given to that, it is the output's.
constexpr void name_output(graph& g, int i, int id) {
    for (int k = 0; k < g.named.n; ++k) {
        named_output& v = g.named[k];
        if (v.id != id || v.found) continue;
        v.found = true;
        g.names.outputs[i] = v.name;
        return;
    }
}
/// The first of `n` names that is `name`, or -1.
constexpr int place_of_name(const char* const* all, int n, const char* name) {
    for (int i = 0; i < n; ++i)
        if (all[i] && same_name(all[i], name)) return i;
    return -1;
}

/// All inputs have names, or none; inputs and outputs have names of their own; names of outputs are
/// of what the net gives.
constexpr void check_port_names(graph& g) {
    const char* const* const in = g.names.inputs;
    int named = 0;
    const int inputs = g.inputs.n < port_names::most ? g.inputs.n : port_names::most;
    for (int i = 0; i < inputs; ++i) named += in[i] != nullptr;
    if (named == 0 && g.named.n == 0) return;
    const int scope = g.scope;
    g.scope = 0;
    if (named && named < g.inputs.n)
        g.fail(fault_kind::some_ports_without_names, op::input, "inputs", extents(named), extents(g.inputs.n));
    for (int i = 0; i < inputs; ++i)
        if (const int k = in[i] ? place_of_name(in, i, in[i]) : -1; k >= 0)
            g.fail(fault_kind::port_name_used_twice, op::input, in[i], g.n[g.inputs[i]].s, g.n[g.inputs[k]].s);
    for (int i = 0; i < g.named.n; ++i) {
        const named_output& v = g.named[i];
        const shape s = g.n[v.id].s;
        g.scope = v.scope;
        if (!v.found) g.fail(fault_kind::name_of_no_output, op_name("output"), v.name, s, shape{});
        if (const int k = place_of_name(in, inputs, v.name); k >= 0)
            g.fail(fault_kind::port_name_used_twice, op_name("output"), v.name, s, g.n[g.inputs[k]].s);
        for (int k = 0; k < i; ++k)
            if (same_name(g.named[k].name, v.name))
                g.fail(fault_kind::port_name_used_twice, op_name("output"), v.name, s, g.n[g.named[k].id].s);
    }
    g.scope = scope;
}

/// Gives the targets their names: one for each but weights, and none twice.
constexpr void name_targets(graph& g, const target_list& targets, const target_names& names) {
    if (g.targets.n != targets.n) return;   // one of them is a fault
    int k = 0, named = 0, wanted = 0;
    for (int i = 0; i < targets.n && i < port_names::most; ++i) {
        if (is_weight(targets.at[i].kind)) continue;
        ++wanted;
        const char* const name = k < names.n ? names.at[k++] : nullptr;
        if (!name) continue;
        ++named;
        if (const int other = place_of_name(g.names.targets, i, name); other >= 0)
            g.fail(fault_kind::port_name_used_twice, op::input, name, g.n[g.targets[i]].s, g.n[g.targets[other]].s);
        g.names.targets[i] = name;
    }
    if (named != wanted || k < names.n)
        g.fail(fault_kind::some_ports_without_names, op::input, "targets", extents(named + names.n - k),
               extents(wanted));
}

} // namespace sinter::detail
