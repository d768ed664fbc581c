// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// Moves monotone elementwise work from before a max-pool to behind it: max(f(a), f(b)) = f(max(a,
/// b)), exactly. A pool of k x k then leaves a k-squared-th of the bias additions and activations,
/// the pool sits directly behind its convolution and can join its kernel, and the zeros of relu's
/// gradient arrive at the pool's gradient.
namespace sinter::inline SINTER_TARGET::compiler {

constexpr void hoist(graph& g) {
    growing<int> users(g.n.n, 0);
    growing<bool> stays(g.n.n, false);   // a gradient within the net reads its winners
    for (int i = 0; i < g.n.n; ++i) {
        for (int k = 0; k < g.n[i].operands; ++k) ++users[g.n[i].in[k]];
        if (g.n[i].k == op::get_output) stays[g.n[i].in[0]] = true;
    }
    for (int i = 0; i < g.outputs.n; ++i) users[g.outputs[i]] += 2;
    for (int i = 0; i < g.assignments.n; ++i) users[g.assignments[i].value] += 2;

    for (int pool = 0; pool < g.n.n; ++pool) {
        // nodes [pool's operand, pool] swap places one pair at a time; positions and number of
        // nodes stay
        for (int p = pool; is(g.n[p], op_role::max_pool) && !stays[p];) {
            const int e = g.n[p].in[0];
            const node f = g.n[e], m = g.n[p];
            if (users[e] != 1 || !f.about->monotone) {
                if (!is(f, op_role::sum) || users[e] != 1) break;
                const shape& b = g.n[f.in[1]].s;   // a bias: the same for every place of the window
                if (b.batched || b.size() != b.last() || !(g.n[f.in[0]].s == f.s)) break;
            }
            node moved_pool = m, moved = f;
            moved_pool.in[0] = f.in[0];
            moved_pool.scope = m.scope;
            moved.in[0] = e;
            moved.s = m.s;
            g.n[e] = moved_pool;
            g.n[p] = moved;
            p = e;
        }
    }
}

namespace pass {
struct hoist {
    static constexpr bool enabled(const target&, const program_options&) { return true; }
    static constexpr void run(graph& g, const pass_settings&) { sinter::compiler::hoist(g); }
};
} // namespace pass

} // namespace sinter::compiler
