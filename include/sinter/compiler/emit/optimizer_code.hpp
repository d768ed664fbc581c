// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/emit_body.hpp>
#include <sinter/compiler/optimizer_traits.hpp>
#include <sinter/compiler/traced.hpp>
#include <sinter/compiler/update_context.hpp>
#include <utility>

/// Optimizers are expressions too: this traces one over flat arrays and turns it into code, once
/// for all parameters of a group.
namespace sinter::inline SINTER_TARGET::compiler {

inline constexpr int most_update_instructions = 120;

/// The code of an optimizer's update, or of sums before it, as a constant.
struct optimizer_code {
    std::uint64_t code[most_update_instructions] = {};
    float constants[32] = {};
    int operand[16] = {};
    int instructions = 0, literals = 0, operands = 0, slots = 0;
    int levels = 0, sums = 0;   ///< of the whole update
    bool fits = true;           ///< false: the update is too long for one kernel
    fault err;                  ///< what is wrong with it; it then has no code

    constexpr update_code view() const {
        return {{code, instructions}, {constants, literals}, {operand, operands}, slots};
    }
};

/// The new values of a group's parameter and slots or, with a level, the sums of that level.
template <class Optimizer>
constexpr optimizer_code make_optimizer_code(int group_number = 0, int level = -1) {
    graph g;
    update_context u(g, Optimizer::slots, Optimizer::n_scalars, group_number);
    Optimizer::update(u);
    optimizer_code out;
    out.err = g.err;
    if (out.err.what != fault_kind::none) return out;
    int of_sum[update_context::most_sums] = {};
    out.sums = u.sums();
    out.levels = out.sums ? u.levels(of_sum) : 0;
    if (level < 0) u.finish();
    else u.finish_sums(level);
    graph_view view;
    view.n = {g.n.p, g.n.n};
    view.assignments = {g.assignments.p, g.assignments.n};
    growing<group> groups(g.n.n, group{});
    growing<int> of(g.n.n, 0), next(g.n.n, 0);
    growing<bool> live(g.n.n, false), stored(g.n.n, false);
    grouping r{{groups.p, 0}, of.p, next.p, live.p, stored.p};
    r.most_members = 200;   // an update is one walk, or does not fit: what counts are its instructions in the end
    r.most_code = 2000;
    fuse(view, r);

    growing<address> at(g.n.n, address{});
    for (int i = 0; i < g.n.n; ++i)
        if (g.n[i].k == op::optimizer_port) at[i] = port_address(g.n[i].p[optimizer_port_attribute::operand]);
    for (int i = 0; i < g.assignments.n; ++i) at[g.assignments[i].value] = at[g.assignments[i].target];

    body_emitter body(view, r, at.p);
    int walks = 0;
    for (int i = 0; i < r.g.n; ++i) {
        if (r.g[i].root < 0) continue;
        ++walks;
        body.begin(r.g[i]);
        body.members(r.g[i]);
        body.stores(r.g[i]);
    }
    if (!walks) return out;   // nothing is done to these parameters
    out.fits = walks == 1 && body.instructions().n <= most_update_instructions && body.literals().n <= 32 &&
               body.args().n <= 16 && out.levels <= most_sum_levels;
    if (!out.fits) return out;
    for (const instruction& w : body.instructions()) out.code[out.instructions++] = w.pack();
    for (float f : body.literals()) out.constants[out.literals++] = f;
    for (const address& a : body.args()) {
        const int port = out.operand[out.operands++] = port_of(a);
        out.slots += port > 1 && port < weight_operand;
    }
    return out;
}

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::detail {

/// What a step does with a gradient while gradients are accumulated.
template <int Slot>
struct gather_gradients {
    static constexpr int slots = Slot + 1, n_scalars = 0;
    static constexpr void update(update_context& u) { u.set_slot(Slot, u.slot(Slot) + u.gradient()); }
};

template <class Optimizer, int Group>
struct group_code {
    static constexpr optimizer_code last = make_optimizer_code<Optimizer>(Group);
    template <int Level>
    static constexpr optimizer_code sums = [] {
        if constexpr (Level < last.levels) return make_optimizer_code<Optimizer>(Group, Level);
        else return optimizer_code{};
    }();
    static constexpr bool fits = last.fits && sums<0>.fits && sums<1>.fits && sums<2>.fits;
    static constexpr group_update make() {
        group_update u{last.view(), {}, last.levels};
        if constexpr (last.levels > 0) u.sums[0] = sums<0>.view();
        if constexpr (last.levels > 1) u.sums[1] = sums<1>.view();
        if constexpr (last.levels > 2) u.sums[2] = sums<2>.view();
        return u;
    }
};

template <class Optimizer, class I = std::make_integer_sequence<int, groups_of<Optimizer>()>>
struct update_of;
template <class Optimizer, int... G>
struct update_of<Optimizer, std::integer_sequence<int, G...>> {
    static constexpr bool fits = (group_code<Optimizer, G>::fits && ...);
    static constexpr fault err = [] {
        fault first;
        ((first = first.what == fault_kind::none ? group_code<Optimizer, G>::last.err : first), ...);
        return first;
    }();
    static constexpr group_update groups[] = {group_code<Optimizer, G>::make()...};
    static constexpr int every = batches_of<Optimizer>();
    static constexpr optimizer_code gather = [] {
        if constexpr (every > 1) return make_optimizer_code<gather_gradients<Optimizer::slots - 1>>();
        else return optimizer_code{};
    }();
    static constexpr update_set make() {
        update_set u{{groups, sizeof...(G)}, gather.view(), every, 0, Optimizer::slots};
        ((u.sums = group_code<Optimizer, G>::last.sums > u.sums ? group_code<Optimizer, G>::last.sums : u.sums), ...);
        return u;
    }
};

} // namespace sinter::detail
