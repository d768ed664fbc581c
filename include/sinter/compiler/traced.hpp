// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/graph_view.hpp>

/// A graph as a constant: what one pass hands to the next. The passes that make one put it into a
/// constant with room for any first, since they cannot know its size before; a copy of exactly its
/// size is what stays.
namespace sinter::inline SINTER_TARGET::compiler {

/// A program of more nodes than this would exceed what compilers do in one constant evaluation, and
/// is refused by name instead. Measured with training programs and clang 14's default limit of 2^20
/// steps, which emission exceeds past 1800 nodes for chains of dense and relu, past 1760 for
/// transformer blocks. g++ 12 allows 2^25 operations.
inline constexpr int most_nodes = 1800;

/// The capacity that a net is traced with first. Where most of it stays empty it costs g++ nothing,
/// but clang a second for every thousand nodes, more than tracing a small net again, and nvcc 300
/// MB.
#if defined(__clang__) || defined(__CUDACC__)
inline constexpr int first_capacity = 256;
#else
inline constexpr int first_capacity = most_nodes;
#endif

struct graph_counts {
    int nodes = 0, parameters = 0, states = 0, assignments = 0, gradients = 0, inputs = 0, targets = 0, outputs = 0,
        regions = 0, scopes = 0, loops = 0, carries = 0, streams = 0, loss = -1,
        loss_weight = -1, loss_weights = 0, loss_sum = -1;
    bool by_mode = false;   ///< the net asked which program this is
    fault err;
    port_names names;       ///< known of a net's first trace alone, as by_mode is
};

template <int Nodes, int Parameters, int States, int Assignments, int Gradients, int Inputs, int Targets, int Outputs,
          int Regions, int Scopes, int Loops, int Carries>
struct traced {
    node n[std::size_t{Nodes}];
    variable parameters[std::size_t{Parameters + 1}], states[std::size_t{States + 1}];
    assignment assignments[std::size_t{Assignments + 1}];
    int gradients[std::size_t{Gradients + 1}], inputs[std::size_t{Inputs + 1}], targets[std::size_t{Targets + 1}];
    int outputs[std::size_t{Outputs + 1}], regions[std::size_t{Regions + 1}];
    scope_entry scopes[std::size_t{Scopes}];
    loop loops[std::size_t{Loops + 1}];
    loop_carry carries[std::size_t{Carries + 1}];
    graph_counts c;   ///< how many of each there are

    constexpr traced() : n{}, parameters{}, states{}, assignments{}, gradients{}, inputs{}, targets{}, outputs{},
                         regions{}, scopes{}, loops{}, carries{} {}
    constexpr graph_view view() const {
        return {{n, c.nodes},
                {parameters, c.parameters},
                {states, c.states},
                {assignments, c.assignments},
                {gradients, c.gradients},
                {inputs, c.inputs},
                {targets, c.targets},
                {outputs, c.outputs},
                {regions, c.regions},
                {scopes, c.scopes},
                {loops, c.loops},
                {carries, c.carries},
                c.loss,
                c.loss_weight,
                c.loss_weights,
                c.loss_sum};
    }
    static constexpr bool holds(const graph_view& g) {
        return g.n.n <= Nodes && g.parameters.n <= Parameters && g.states.n <= States &&
               g.assignments.n <= Assignments && g.gradients.n <= Gradients && g.inputs.n <= Inputs &&
               g.targets.n <= Targets && g.outputs.n <= Outputs && g.regions.n <= Regions && g.scopes.n <= Scopes &&
               g.loops.n <= Loops && g.carries.n <= Carries;
    }
    /// The capacity must suffice: see holds().
    constexpr void take(const graph_view& g, int streams, const fault& err) {
        copy(g.n, n);
        copy(g.parameters, parameters);
        copy(g.states, states);
        copy(g.assignments, assignments);
        copy(g.gradients, gradients);
        copy(g.inputs, inputs);
        copy(g.targets, targets);
        copy(g.outputs, outputs);
        copy(g.regions, regions);
        copy(g.scopes, scopes);
        copy(g.loops, loops);
        copy(g.carries, carries);
        c = {g.n.n,       g.parameters.n, g.states.n,    g.assignments.n, g.gradients.n, g.inputs.n,
             g.targets.n, g.outputs.n,    g.regions.n,   g.scopes.n,      g.loops.n,     g.carries.n,
             streams,     g.loss,         g.loss_weight, g.loss_weights,  g.loss_sum,    false,
             err,         {}};
    }
    /// Puts everything back into a graph that can grow.
    constexpr void give(graph& g) const {
        g.n.reserve(2 * c.nodes);   // gradients are about as many
        for (int i = 0; i < c.nodes; ++i) g.restore(n[i]);
        for (int i = 1; i < c.scopes; ++i) g.scopes.restore(scopes[i]);
        for (int i = 0; i < c.parameters; ++i) g.parameters.push(parameters[i]);
        for (int i = 0; i < c.states; ++i) g.states.push(states[i]);
        for (int i = 0; i < c.assignments; ++i) g.assignments.push(assignments[i]);
        for (int i = 0; i < c.inputs; ++i) g.inputs.push(inputs[i]);
        for (int i = 0; i < c.targets; ++i) g.targets.push(targets[i]);
        for (int i = 0; i < c.outputs; ++i) g.outputs.push(outputs[i]);
        for (int i = 0; i < c.regions; ++i) g.regions.push(regions[i]);
        for (int i = 0; i < c.loops; ++i) g.loops.push(loops[i]);
        for (int i = 0; i < c.carries; ++i) g.carries.push(carries[i]);
        g.loss = c.loss;
        g.loss_weight = c.loss_weight;
        g.loss_weights = c.loss_weights;
        g.loss_sum = c.loss_sum;
        g.streams = c.streams;
    }

private:
    template <class T>
    static constexpr void copy(const base::view<const T>& from, T* to) {
        for (int i = 0; i < from.n; ++i) to[i] = from[i];
    }
};
/// Capacity for any graph of so many nodes; of nothing there are more, but for scopes.
template <int Nodes>
using traced_any = traced<Nodes, Nodes, Nodes, Nodes, Nodes, Nodes, Nodes, Nodes, Nodes, 4 * Nodes, Nodes, Nodes>;

/// Capacity for Stage's graph after a pass that adds nodes, and may add loops where there are some.
template <class Stage, int Nodes>
struct grown {
    static constexpr graph_counts c = Stage::v.c;
    using type = traced<Nodes, c.parameters, c.states, c.assignments, c.parameters, c.inputs, c.targets, c.outputs,
                        c.regions, c.scopes, c.loops ? Nodes : 0, c.loops ? Nodes : 0>;
};

/// Takes g up, with its fault if it has one; or nothing but the fault that it is too large.
template <int Nodes, int... Others>
constexpr void take(traced<Nodes, Others...>& to, graph& g, const growing<int>& gradients) {
    const graph_view all = view_of(g, gradients);
    if (to.holds(all)) {
        to.take(all, g.streams, g.err);
    } else {
        g.scope = 0;
        g.fail(fault_kind::program_too_large, op::none, extents(g.n.n), extents(Nodes));
        to.c.err = g.err;
    }
}

/// The same with no more capacity than it needs.
template <class Stage>
struct exact {
    static constexpr graph_counts c = Stage::v.c;
    using type = traced<c.nodes, c.parameters, c.states, c.assignments, c.gradients, c.inputs, c.targets, c.outputs,
                        c.regions, c.scopes, c.loops, c.carries>;
    static constexpr type make() {
        type t;
        t.take(Stage::v.view(), c.streams, c.err);
        return t;
    }
    static constexpr type v = make();
};

} // namespace sinter::compiler
