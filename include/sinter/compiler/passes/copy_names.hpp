// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/graph_view.hpp>

namespace sinter::inline SINTER_TARGET::compiler {

/// All that a graph has besides nodes and scopes, for passes that make a new one: at(v) is the node
/// of `to` that node v of `from` has become.
template <class At>
constexpr void copy_names(const graph_view& from, graph& to, At at) {
    const auto moved = [&](variable v) {
        v.id = at(v.id);
        return v;
    };
    for (const variable& v : from.parameters) to.parameters.push(moved(v));
    for (const variable& v : from.states) to.states.push(moved(v));
    for (const assignment& a : from.assignments) to.assignments.push({at(a.target), at(a.value)});
    for (int v : from.inputs) to.inputs.push(at(v));
    for (int v : from.targets) to.targets.push(at(v));
    for (int v : from.outputs) to.outputs.push(at(v));
    for (int v : from.regions) to.regions.push(at(v));
    for (loop l : from.loops) {
        for (int* v : {&l.count, &l.condition, &l.trips}) *v = at(*v);
        to.loops.push(l);
    }
    for (loop_carry c : from.carries) {
        for (int* v : {&c.store, &c.value, &c.next}) *v = at(*v);
        to.carries.push(c);
    }
    to.loss = at(from.loss);
    to.loss_weight = at(from.loss_weight);
    to.loss_weights = from.loss_weights;
    to.loss_sum = at(from.loss_sum);
}

} // namespace sinter::compiler
