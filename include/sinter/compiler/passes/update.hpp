// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/fuse.hpp>
#include <sinter/compiler/emit/update_set.hpp>
#include <sinter/compiler/emit/instruction.hpp>

/// Which parameters the optimizer may update within the kernel that produces their gradient: the
/// gradient is then never stored. That kernel must hold the finished gradient element by element,
/// and nobody may read the parameter later.
///
/// Behind a matrix product's tiles the update's loads and divisions stand in the way of the next
/// tile's multiplications, but the gradient is neither written nor read: with the two moments of
/// Adam 784 x 128 of 64 examples take 51 us instead of 41 and 15 (Zen 5, 512 bits), with 256 bits
/// as long either way. More slots have not been measured. Convolutions sum their parts in a sweep
/// of its own anyway.
namespace sinter::inline SINTER_TARGET::compiler {

inline constexpr int most_slots_behind_products = 2;

constexpr void choose_updates(const graph_view& g, const grouping& r, bool allowed, const update_set& u,
                              bool* updated) {
    const node* const n = g.n.p;
    growing<int> bases, last(g.n.n, -1), last_float(g.n.n, -1);
    const int* const base = find_bases(g.n, bases);
    for (int v = g.n.n - 1; v >= 0; --v) {
        const op_kind kind = n[v].about->kind;
        if (!r.live[v] || kind == op_kind::view || kind == op_kind::get_output) continue;
        const int group = r.of[v] >= 0 ? runs_until(r, r.of[v]) : last_float.p[v];
        for (int k = 0; k < n[v].operands; ++k) {
            const int read = base[n[v].in[k]];
            if (last.p[read] < group) last.p[read] = group;
            if (last_float.p[read] < group) last_float.p[read] = group;
        }
    }
    auto at_the_end = [&](int v) {   // read when the step is over
        if (v >= 0) last[base[v]] = r.g.n;
    };
    at_the_end(g.loss);
    at_the_end(g.loss_weight);
    for (int v : g.outputs) at_the_end(v);
    for (const assignment& a : g.assignments) at_the_end(a.value);
    growing<int> pins(g.n.n, 0), code(r.g.n, 0);
    for (int d : g.gradients)
        if (d >= 0) ++pins[base[d]];
    for (int i = 0; i < g.gradients.n; ++i) {
        updated[i] = false;
        if (!allowed || g.gradients[i] < 0 || !u.at_once(g.parameters[i])) continue;
        const int instructions = u.in_step(g.parameters[i]).code.n, slots = u.in_step(g.parameters[i]).slots;
        const int d = base[g.gradients[i]], p = g.parameters[i].id, at = r.of[d];
        if (at < 0 || pins[d] > 1 || last[d] >= 0 || n[d].loop) continue;
        const op_kind kind = n[d].about->kind;
        if (kind != op_kind::root_op && kind != op_kind::elementwise) continue;
        const group& q = r.g[at];
        if (is(n[q.root], op_role::weights_gradient) && slots > most_slots_behind_products) continue;
        if (kind == op_kind::root_op && !n[d].about->epilogue) continue;
        if (q.code + code[at] + instructions > most_instructions || q.space.batched) continue;
        if (!same_space(q.space, n[d].s) || !(n[d].s.form == n[p].s.form)) continue;
        updated[i] = last[p] < at;
        if (updated[i]) code[at] += instructions;
    }
}

} // namespace sinter::compiler
