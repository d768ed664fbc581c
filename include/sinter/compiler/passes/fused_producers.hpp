// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/grouping.hpp>
#include <sinter/compiler/emit/spec.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// Walks that lead: where the first to read what a walk leaves is a kernel that reads row by row,
/// that kernel runs the walk itself, some rows at a time, each just before it multiplies them. Then
/// it finds them in cache, and what the walk reads comes from memory while the kernel is busy with
/// the rows before. Such a walk is put right before its kernel. Both are at work at the same time:
/// what the walk reads must be there, and stay as it is, until the kernel is done (grouping.hpp's
/// runs_until).
namespace sinter::inline SINTER_TARGET::compiler {

/// Is a group's kernel one that runs what leads it?
constexpr bool follows_rows(const node* n, const group& q) {
    return q.root >= 0 && q.root_op && !q.loop && q.pool < 0 && n[q.root].about->follows_rows(n[q.root]);
}

class fused_producers {
public:
    constexpr fused_producers(const graph_view& g, grouping& r)
        : g_(g), r_(r), n_(g.n.p), base_(find_bases(g.n, bases_)), first_(g.n.n), reads_(g.n.n), wanted_(g.n.n) {}

    constexpr void run() {
        find_readers();
        growing<int> producer(r_.g.n, in_no_group);   // of each group
        for (int i = 0; i < r_.g.n; ++i)
            if (const int to = led_by(i); to >= 0) producer[to] = i, r_.g[i].is_producer = true;
        growing<int> order;
        for (int i = 0; i < r_.g.n; ++i) {
            if (producer[i] >= 0) order.push(producer[i]);
            if (!r_.g[i].is_producer) order.push(i);
        }
        reorder_groups(r_, g_.n.n, order);
    }

private:
    const graph_view& g_;
    grouping& r_;
    const node* const n_;   // clang counts the call of an operator [] as two steps: plain arrays cost none
    growing<int> bases_;
    const int* const base_;        ///< the node whose memory each shows
    growing<int> first_, reads_;   ///< the first group that reads each node, and how often that one does
    growing<bool> wanted_;         ///< when the step is over

    constexpr void find_readers() {
        for (int v = 0; v < g_.n.n; ++v) first_[v] = r_.g.n;
        for_each_root(g_, [&](int v) {
            if (v >= 0) wanted_[base_[v]] = true;
        });
        for (int v = 0; v < g_.n.n; ++v) {
            if (!r_.live[v] || is_view(n_[v])) continue;
            const int by = r_.of[v] >= 0 ? r_.of[v] : 0;   // what floats is read where it is wanted
            for (int k = 0; k < n_[v].operands; ++k) {
                const int u = base_[n_[v].in[k]];
                if (r_.of[u] == r_.of[v]) continue;
                if (by < first_[u]) first_[u] = by, reads_[u] = 0;
                reads_[u] += by == first_[u];
            }
        }
    }
    /// The group whose kernel may run walk i; none: it is a kernel by itself.
    constexpr int led_by(int i) const {
        const group& q = r_.g[i];
        if (q.root < 0 || q.root_op || q.loop || !q.space.batched || q.space.last() <= narrow_columns)
            return in_no_group;
        int to = r_.g.n;
        for (int v = q.head; v >= 0; v = r_.next[v]) {
            if (n_[v].about->kind != op_kind::elementwise || !same_space(n_[v].s, q.space)) return in_no_group;
            if (!r_.stored[v]) {
                if (first_[v] < r_.g.n && reads_of(v, i))
                    return in_no_group;   // others compute it again, of what this walk leaves
                continue;
            }
            if (wanted_[v]) return in_no_group;
            to = first_[v] < to ? first_[v] : to;
        }
        if (to <= i || to == r_.g.n || !follows_rows(n_, r_.g[to])) return in_no_group;
        const node& root = n_[r_.g[to].root];
        const int made = base_[root.in[0]];
        if (r_.of[made] != i || !same_space(n_[root.in[0]].s, q.space)) return in_no_group;
        for (int v = q.head; v >= 0; v = r_.next[v])   // its first operand is all that this kernel reads of it
            if (r_.stored[v] && first_[v] == to && (v != made || reads_[v] != 1)) return in_no_group;
        return to;
    }
    constexpr bool reads_of(int v, int group) const {
        for (int k = 0; k < n_[v].operands; ++k)
            if (r_.of[base_[n_[v].in[k]]] == group) return true;
        return false;
    }
};

constexpr void choose_fused_producers(const graph_view& g, grouping& r) {
    bool any = false;
    for (const group& q : r.g) any = any || follows_rows(g.n.p, q);
    if (any) fused_producers(g, r).run();
}

namespace pass {
struct fused_producers {
    static constexpr bool enabled(const target& t, const program_options& o) { return o.fuse && t.fused_producers; }
    static constexpr void run(const graph_view& g, grouping& r, const pass_settings&) { choose_fused_producers(g, r); }
};
} // namespace pass

} // namespace sinter::compiler
