// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/initializer.hpp>
#include <sinter/expr/tensor.hpp>
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/custom_gradient.hpp>
#include <sinter/ops/reshape.hpp>

/// Parameters and states: what a layer owns. They are named within the layer's scope (`conv2d_1/kernel`).
namespace sinter {

namespace detail {
constexpr tensor variable_leaf(graph* g, growing<variable>& list, node x, const char* name, shape s, initializer init) {
    // only a scope that was entered again can hold older variables than the newest few
    const bool everywhere = g->scopes.entered_again(g->scope) || g->sharing;
    for (int i = list.n - 1; i >= 0 && (everywhere || list[i].scope == g->scope); --i) {
        const variable& v = list[i];
        if (v.scope != g->scope || !same_name(v.name, name)) continue;
        if (g->sharing && g->n[v.id].s == s) return {g, v.id};
        return fail(g, fault_kind::parameter_name_used_twice, x.about->self, s, g->n[v.id].s);
    }
    x.s = s;
    x.p[0] = list.n;
    const int id = g->push(x);
    list.push({id, name, g->scope, init});
    return {g, id};
}
} // namespace detail

/// A trainable tensor. `like` only says which graph is being traced.
constexpr tensor parameter(tensor like, const char* name, const shape& s, initializer init) {
    return like.ok() ? detail::variable_leaf(like.g, like.g->parameters, node_of<op::parameter>(), name, s, init) : like;
}
/// A trainable matrix (all axes but the last are rows) that matmul or conv2d takes on its right, in the layout that
/// their kernels want. Saved files show it plain.
constexpr tensor weights(tensor like, const char* name, shape s, initializer init) {
    s.form = layout::weights;
    return parameter(like, name, s, init);
}
/// A tensor that lives on from step to step but is not trained; `assign` overwrites it.
constexpr tensor state(tensor like, const char* name, const shape& s, initializer init) {
    return like.ok() ? detail::variable_leaf(like.g, like.g->states, node_of<op::state>(), name, s, init) : like;
}
/// Overwrites a state at the end of a training step; evaluation and prediction leave it alone.
constexpr void assign(tensor target, tensor value) {
    if (!target.ok() || !value.ok() || target.g->mode != program_mode::training) return;
    graph* g = target.g;
    const shape s = target.shape();
    value = ops::plain(value);
    shape got;
    if (!broadcast_shape(s, value.shape(), got) || !(got == s)) {
        fail(g, fault_kind::shapes_not_broadcastable, op::state, value.shape(), s);
        return;
    }
    // always a value computed in this step: two states may so be exchanged, and a parameter is copied before its update
    int base = value.id;
    while (is_view(g->n[base])) base = g->n[base].in[0];
    if (g->n[base].loop && g->open_loop) {
        fail(g, fault_kind::loop_value_outside, op::state, value.shape(), s);
        return;
    }
    const bool there_before = g->n[base].loop || is_leaf(g->n[base]);
    if (there_before || !(value.shape() == s))
        value = make<op::broadcast>(g, s, {ops::expand(value, s)}, {-1 - g->assignments.n});
    g->assignments.push({target.id, value.id});
}

} // namespace sinter
