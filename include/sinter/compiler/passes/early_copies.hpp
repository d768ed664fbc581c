// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/loop_order.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// A gradient that is a copy (`separate`: two batch_norms that meet in a sum share beta's) is made
/// right behind what it is a copy of, or behind the loop that this comes from, rather than at the
/// end of backward: its bucket would wait for it. Only where gradients are in buckets; elsewhere
/// nobody waits.
namespace sinter::inline SINTER_TARGET::compiler {

class early_copying {
public:
    constexpr early_copying(const graph_view& g, grouping& r) : g_(g), r_(r) { find_spans(g, r, span_); }

    constexpr void run() {
        growing<bool> copy(g_.n.n, false);
        for (int d : g_.gradients)
            if (const int v = base_of(g_.n, d); v >= 0 && g_.n[v].k == op::broadcast && g_.n[v].operands == 1)
                copy[v] = true;
        growing<int> first(r_.g.n + 1, -1), next(r_.g.n, -1),
            order;   // first[i + 1]: of the groups that move behind group i
        growing<bool> moves(r_.g.n, false);
        for (int i = r_.g.n - 1; i >= 0; --i) {
            const group& q = r_.g[i];
            bool only_copies = q.root >= 0 && !q.loop;
            int behind = -1;
            for (int v = q.head; v >= 0; v = r_.next[v]) {
                only_copies = only_copies && copy[v];
                if (const int last = last_source(v, i); behind < last) behind = last;
            }
            if (!only_copies || behind >= i) continue;
            moves[i] = true;
            next[i] = first[behind + 1];
            first[behind + 1] = i;
        }
        for (int i = -1; i < r_.g.n; ++i) {
            if (i >= 0 && !moves[i]) order.push(i);
            for (int k = first[i + 1]; k >= 0; k = next[k]) order.push(k);
        }
        reorder_groups(r_, g_.n.n, order);
    }

private:
    const graph_view& g_;
    grouping& r_;
    growing<loop_span> span_;

    /// The last group of those that must have run before `group` can make v; -1: none.
    constexpr int last_source(int v, int group) const {
        int last = -1;
        for (int k = 0; k < g_.n[v].operands; ++k) {
            const int u = base_of(g_.n, g_.n[v].in[k]);
            const int by = computed_again(r_, u, group) ? last_source(u, group) : made_by(u);
            if (last < by) last = by;
        }
        return last;
    }
    constexpr int made_by(int u) const {
        int loop = g_.n[u].loop;
        for (const loop_carry& c : g_.carries)
            if (c.store == u || c.next == u) loop = c.loop;
        return loop ? span_[loop].last : r_.of[u];
    }
};

namespace pass {
struct early_copies {
    static constexpr bool enabled(const target&, const program_options& o) {
        return o.policy() == gradient_policy::reduced;
    }
    static constexpr void run(const graph_view& g, grouping& r, const pass_settings&) { early_copying(g, r).run(); }
};
} // namespace pass

} // namespace sinter::compiler
