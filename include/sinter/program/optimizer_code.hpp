// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/program/emit_body.hpp>
#include <sinter/program/traced.hpp>

/// Optimizers are expressions too: this traces one over flat arrays and turns it into code, once for all parameters.
namespace sinter {

/// What an optimizer's update() is given: the parameter, its gradient, the optimizer's own memory of both, and the
/// numbers that change from step to step.
class update_context {
public:
    static constexpr int most_slots = 4;
    constexpr update_context(graph& g, int slots) : g_(&g), slots_(slots) {
        for (int i = 0; i < 2 + slots; ++i) {
            port_[i] = make<op::optimizer_port>(g_, extents(1024), {}, {i});
            target_[i] = port_[i].id;
        }
    }
    constexpr tensor parameter() const { return port_[0]; }
    constexpr tensor gradient() const { return port_[1]; }
    constexpr tensor slot(int i) const { return port_[2 + i]; }
    /// The sum of the squares of all parameters' gradients, for clipping: all gradients are then computed before any
    /// parameter is updated.
    constexpr tensor squared_gradient_norm() const { return make<op::optimizer_port>(g_, extents(), {}, {norm_operand}); }
    /// Number i of those that the optimizer's scalars() writes before each step.
    constexpr tensor scalar(int i) const { return make<op::runtime_scalar>(g_, extents(), {}, {i}); }
    /// For optimizers around another one: what it will see as the gradient.
    constexpr void scale_gradient(tensor factor) { port_[1] = port_[1] * factor; }
    constexpr void set_parameter(tensor v) const { set(0, v); }
    constexpr void set_slot(int i, tensor v) const { set(2 + i, v); }

private:
    /// Each result is a node of its own over all elements: it will be told where it lies.
    constexpr void set(int port, tensor v) const {
        bool own = !is_leaf(v.at()) && v.shape() == extents(1024);
        for (int i = 0; i < g_->assignments.n; ++i) own = own && g_->assignments[i].value != v.id;
        if (!own) v = make<op::broadcast>(g_, extents(1024), {v}, {port + 1});
        g_->assignments.push({target_[port], v.id});
    }
    graph* g_;
    int slots_;
    tensor port_[2 + most_slots] = {};   ///< what the optimizer sees
    int target_[2 + most_slots] = {};    ///< where its results go
};

inline constexpr int most_update_words = 120;

/// The code of an optimizer's update, as a constant.
struct optimizer_code {
    std::uint64_t code[most_update_words] = {};
    float constants[32] = {};
    int operand[16] = {};
    int words = 0, literals = 0, operands = 0, slots = 0;
    bool fits = true;   ///< false: the update is too long for one kernel

    constexpr update_code view() const {
        return {{code, words}, {constants, literals}, {operand, operands}, slots};
    }
};

template <class Optimizer>
constexpr optimizer_code make_optimizer_code() {
    graph g;
    update_context u(g, Optimizer::slots);
    Optimizer::update(u);
    graph_view view;
    view.n = {g.n.p, g.n.n};
    view.assignments = {g.assignments.p, g.assignments.n};
    growing<group> groups(g.n.n, group{});
    growing<int> of(g.n.n, 0), next(g.n.n, 0);
    growing<bool> live(g.n.n, false), stored(g.n.n, false);
    grouping r{{groups.p, 0}, of.p, next.p, live.p, stored.p};
    fuse(view, r);

    growing<address> at(g.n.n, address{});
    for (int i = 0; i < g.n.n; ++i)
        if (g.n[i].k == op::optimizer_port) at[i] = port_address(g.n[i].p[0]);
    for (int i = 0; i < g.assignments.n; ++i) at[g.assignments[i].value] = at[g.assignments[i].target];

    optimizer_code out;
    out.slots = Optimizer::slots;
    body_emitter body(view, r, at.p);
    int walks = 0;
    for (int i = 0; i < r.g.n; ++i) {
        if (r.g[i].root < 0) continue;
        ++walks;
        body.begin(r.g[i]);
        body.members(r.g[i]);
        body.stores(r.g[i]);
    }
    out.fits = walks == 1 && body.words().n <= most_update_words && body.literals().n <= 32 && body.args().n <= 16;
    if (!out.fits) return out;
    for (const word& w : body.words()) out.code[out.words++] = w.pack();
    for (float f : body.literals()) out.constants[out.literals++] = f;
    for (const address& a : body.args()) out.operand[out.operands++] = port_of(a);
    return out;
}

} // namespace sinter
