// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/program/fuse.hpp>

/// Which parameters the optimizer may update within the kernel that produces their gradient: the gradient is then never
/// stored. That kernel must hold the finished gradient element by element, and nobody may read the parameter later.
namespace sinter {

constexpr void choose_updates(const graph_view& g, const grouping& r, bool allowed, bool* updated) {
    growing<int> last(g.n.n, -1), last_float(g.n.n, -1);
    for (int v = g.n.n - 1; v >= 0; --v) {
        if (!r.live[v] || is_view(g.n[v].k)) continue;
        const int group = r.of[v] >= 0 ? r.of[v] : last_float[v];
        for (int k = 0; k < g.n[v].operands; ++k) {
            const int u = base_of(g.n, g.n[v].in[k]);
            if (last[u] < group) last[u] = group;
            if (last_float[u] < group) last_float[u] = group;
        }
    }
    growing<int> pins(g.n.n, 0);
    for (int d : g.gradients)
        if (d >= 0) ++pins[base_of(g.n, d)];
    for (int i = 0; i < g.gradients.n; ++i) {
        updated[i] = false;
        if (!allowed || g.gradients[i] < 0) continue;
        const int d = base_of(g.n, g.gradients[i]), p = g.parameters[i].id, at = r.of[d];
        if (at < 0 || pins[d] > 1 || last[d] >= 0) continue;
        const op_kind kind = info(g.n[d].k).kind;
        if (kind != op_kind::heavy && kind != op_kind::elementwise) continue;
        const group& q = r.g[at];
        if (kind == op_kind::heavy && !info(g.n[d].k).epilogue) continue;
        if (q.code > max_code || !same_space(q.space, g.n[d].s) || q.space.batched || !(g.n[d].s.form == g.n[p].s.form)) continue;
        updated[i] = last[p] < at;
    }
}

} // namespace sinter
