// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/graph.hpp>

namespace sinter::inline SINTER_TARGET::compiler {

/// What the passes behind differentiation read.
struct graph_view {
    view<const node> n;
    view<const variable> parameters, states;
    view<const assignment> assignments;
    view<const int> gradients, inputs, targets, outputs, regions;
    view<const scope_entry> scopes;
    view<const loop> loops;
    view<const loop_carry> carries;
    int loss = -1, loss_weight = -1, loss_weights = 0, loss_sum = -1;
    const port_names* names = nullptr;   ///< of a finished program's graph (compiler/program.hpp)
};
constexpr graph_view view_of(const graph& g, const growing<int>& gradients) {
    return {g.n.all(),       g.parameters.all(), g.states.all(),  g.assignments.all(), gradients.all(), g.inputs.all(),
            g.targets.all(), g.outputs.all(),    g.regions.all(), g.scopes.entries(),  g.loops.all(),   g.carries.all(),
            g.loss,          g.loss_weight,      g.loss_weights,  g.loss_sum};
}

} // namespace sinter::compiler
