// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/graph.hpp>

/// A graph as a constant of exactly its size: what one pass hands to the next.
namespace sinter {

struct graph_counts {
    int nodes = 0, parameters = 0, states = 0, assignments = 0, gradients = 0, inputs = 0, targets = 0, outputs = 0,
        regions = 0, scopes = 0, loops = 0, carries = 0, streams = 0, loss = -1;
    fault err;
};

constexpr graph_counts count(const graph& g, const growing<int>& gradients) {
    return {g.n.n, g.parameters.n, g.states.n, g.assignments.n, gradients.n, g.inputs.n, g.targets.n, g.outputs.n,
            g.regions.n, g.scopes.size(), g.loops.n, g.carries.n, g.streams, g.loss, g.err};
}

/// What the passes behind differentiation read.
struct graph_view {
    view<const node> n;
    view<const variable> parameters, states;
    view<const assignment> assignments;
    view<const int> gradients, inputs, targets, outputs, regions;
    view<const scope_entry> scopes;
    view<const loop> loops;
    view<const loop_carry> carries;
    int loss = -1;
};

template <int Nodes, int Parameters, int States, int Assignments, int Gradients, int Inputs, int Targets, int Outputs,
          int Regions, int Scopes, int Loops, int Carries>
struct traced {
    node n[Nodes];
    variable parameters[Parameters + 1], states[States + 1];
    assignment assignments[Assignments + 1];
    int gradients[Gradients + 1], inputs[Inputs + 1], targets[Targets + 1], outputs[Outputs + 1], regions[Regions + 1];
    scope_entry scopes[Scopes];
    loop loops[Loops + 1];
    loop_carry carries[Carries + 1];
    int loss, streams;

    constexpr traced() : n{}, parameters{}, states{}, assignments{}, gradients{}, inputs{}, targets{}, outputs{},
                         regions{}, scopes{}, loops{}, carries{}, loss(-1), streams(0) {}
    constexpr graph_view view() const {
        return {{n, Nodes}, {parameters, Parameters}, {states, States}, {assignments, Assignments},
                {gradients, Gradients}, {inputs, Inputs}, {targets, Targets}, {outputs, Outputs}, {regions, Regions},
                {scopes, Scopes}, {loops, Loops}, {carries, Carries}, loss};
    }
    constexpr void take(const graph& g, const growing<int>& grads) {
        for (int i = 0; i < Nodes; ++i) n[i] = g.n[i];
        for (int i = 0; i < Parameters; ++i) parameters[i] = g.parameters[i];
        for (int i = 0; i < States; ++i) states[i] = g.states[i];
        for (int i = 0; i < Assignments; ++i) assignments[i] = g.assignments[i];
        for (int i = 0; i < Gradients; ++i) gradients[i] = grads[i];
        for (int i = 0; i < Inputs; ++i) inputs[i] = g.inputs[i];
        for (int i = 0; i < Targets; ++i) targets[i] = g.targets[i];
        for (int i = 0; i < Outputs; ++i) outputs[i] = g.outputs[i];
        for (int i = 0; i < Regions; ++i) regions[i] = g.regions[i];
        for (int i = 0; i < Scopes && i < g.scopes.size(); ++i) scopes[i] = g.scopes[i];
        for (int i = 0; i < Loops; ++i) loops[i] = g.loops[i];
        for (int i = 0; i < Carries; ++i) carries[i] = g.carries[i];
        loss = g.loss;
        streams = g.streams;
    }
    /// Puts everything back into a graph that can grow.
    constexpr void give(graph& g) const {
        for (int i = 0; i < Nodes; ++i) g.restore(n[i]);
        for (int i = 1; i < Scopes; ++i) g.scopes.restore(scopes[i]);
        for (int i = 0; i < Parameters; ++i) g.parameters.push(parameters[i]);
        for (int i = 0; i < States; ++i) g.states.push(states[i]);
        for (int i = 0; i < Assignments; ++i) g.assignments.push(assignments[i]);
        for (int i = 0; i < Inputs; ++i) g.inputs.push(inputs[i]);
        for (int i = 0; i < Targets; ++i) g.targets.push(targets[i]);
        for (int i = 0; i < Outputs; ++i) g.outputs.push(outputs[i]);
        for (int i = 0; i < Regions; ++i) g.regions.push(regions[i]);
        for (int i = 0; i < Loops; ++i) g.loops.push(loops[i]);
        for (int i = 0; i < Carries; ++i) g.carries.push(carries[i]);
        g.loss = loss;
        g.streams = streams;
    }
};
template <graph_counts C>
using traced_of = traced<C.nodes, C.parameters, C.states, C.assignments, C.gradients, C.inputs, C.targets, C.outputs,
                         C.regions, C.scopes, C.loops, C.carries>;

} // namespace sinter
