// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/initializer.hpp>
#include <sinter/graph/tensor.hpp>
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/reshape.hpp>

/// Parameters and states: what a layer owns. They are named within the layer's scope
/// (`conv2d_1/kernel`).
namespace sinter::inline SINTER_TARGET {

namespace detail {
constexpr tensor variable_leaf(graph* g, growing<variable>& list, node x, const char* name, shape s, initializer init) {
    for (int i = 0; i < s.rank; ++i)
        if (s.d[i] < 1) return fail(g, fault_kind::extents_not_positive, x.about->self, s, extents());
    // only a scope that was entered again can hold older variables than the newest few
    const bool everywhere = g->scopes.entered_again(g->scope) || g->sharing;
    for (int i = list.n - 1; i >= 0 && (everywhere || list[i].scope == g->scope); --i) {
        const variable& v = list[i];
        if (v.scope != g->scope || !same_name(v.name, name)) continue;
        if (g->sharing && g->n[v.id].s == s) return {g, v.id};
        return fail(g, fault_kind::parameter_name_used_twice, x.about->self, s, g->n[v.id].s);
    }
    x.s = s;
    x.p[variable_attribute::number] = list.n;
    const int id = g->push(x);
    list.push({id, name, g->scope, init});
    return {g, id};
}
} // namespace detail

/// Whether the optimizer trains a parameter.
enum class trainable : std::uint8_t { no, yes };

/// A trainable tensor. `like` only says which graph is being traced. With trainable::no it is one
/// that no optimizer touches: it has no gradient and no slots, whatever the optimizer's patterns
/// say, but is saved and loaded with the others.
constexpr tensor parameter(tensor like, const char* name, const shape& s, initializer init,
                           trainable t = trainable::yes) {
    if (!like.ok()) return like;
    compiler::graph& g = *like.g;
    const int before = g.parameters.n;
    const tensor p = detail::variable_leaf(&g, g.parameters, compiler::node_of<op::parameter>(), name, s, init);
    if (t == trainable::no && g.parameters.n > before)
        g.parameters[before].group = -1;   // frozen (compiler/optimizer_traits.hpp)
    return p;
}
/// A trainable matrix (all axes but the last are rows) that matmul or conv2d takes on its right, in
/// the layout that their kernels want. Saved files show it plain.
constexpr tensor weights(tensor like, const char* name, shape s, initializer init, trainable t = trainable::yes) {
    s.form = layout::weights;
    return parameter(like, name, s, init, t);
}
/// A tensor that lives on from step to step but is not trained: a user's own variable, read in
/// training, evaluation and prediction, saved and loaded by its name, and overwritten by `assign`.
constexpr tensor state(tensor like, const char* name, const shape& s, initializer init) {
    return like.ok() ? detail::variable_leaf(like.g, like.g->states, compiler::node_of<op::state>(), name, s, init)
                     : like;
}
namespace detail {
/// Which assignment overwrites a state in this step, or -1.
constexpr int assignment_of(const graph& g, int state) {
    for (int i = 0; i < g.assignments.n; ++i)
        if (g.assignments[i].target == state) return i;
    return -1;
}
/// A state as this step will leave it, so far: for layers that are applied more than once and count
/// each time.
constexpr tensor so_far(tensor target) {
    const int i = target.ok() ? assignment_of(*target.g, target.id) : -1;
    return i < 0 ? target : tensor{target.g, target.g->assignments[i].value};
}
constexpr void assign_value(tensor target, tensor value, bool again) {
    if (!target.ok() || !value.ok() || target.g->mode() != program_mode::training) return;
    graph* g = target.g;
    const shape s = target.shape();
    if (g->n[target.id].k != op::state) {
        fail(g, fault_kind::not_a_state, op::state, value.shape(), s);
        return;
    }
    const int earlier = assignment_of(*g, target.id);
    if (earlier >= 0 && !again) {
        fail(g, fault_kind::assigned_twice, op::state, value.shape(), s);
        return;
    }
    value = ops::plain(value);
    shape got;
    if (!broadcast_shape(s, value.shape(), got) || !(got == s)) {
        fail(g, fault_kind::shapes_not_broadcastable, op::state, value.shape(), s);
        return;
    }
    // always a value computed in this step: two states may so be exchanged, and a parameter is
    // copied before its update
    int base = value.id;
    while (is_view(g->n[base])) base = g->n[base].in[0];
    if (g->n[base].loop && g->open_loop) {
        fail(g, fault_kind::loop_value_outside, op::state, value.shape(), s);
        return;
    }
    const bool there_before = g->n[base].loop || is_leaf(g->n[base]);
    if (there_before || !(value.shape() == s))
        value = make<op::broadcast>(g, s, {ops::expand(value, s)}, {-1 - g->assignments.n});
    if (earlier < 0) g->assignments.push({target.id, value.id});
    else g->assignments[earlier].value = value.id;
}
} // namespace detail

/// Overwrites a state at the end of a training step, once; evaluation, prediction and layers that
/// are frozen leave it alone. Whatever reads the state in that step, before or after this line,
/// reads the old value.
constexpr void assign(tensor target, tensor value) {
    if (target.ok() && target.g->trains()) detail::assign_value(target, value, false);
}
/// Adds to a state at the end of a training step.
constexpr void assign_add(tensor target, tensor value) {
    if (target.ok() && value.ok()) assign(target, target + value);
}

} // namespace sinter
