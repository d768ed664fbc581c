// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/recompute.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// The second half of fusion: walks move down into the groups that use their results, and it is
/// settled which values must lie in memory.
namespace sinter::inline SINTER_TARGET::compiler {

class sinker {
public:
    constexpr sinker(const graph_view& g, grouping& r)
        : g_(g), r_(r), n_(g.n.p), base_(find_bases(g.n, bases_)) {}

    /// A walk moves down into the first group that uses its results, if that does the same walk and
    /// reads them in place: what it reads is ready before, and every other user comes later still.
    constexpr void sink() {
        growing<int> first(g_.n.n, -1), chain, user;   // uses of each node, as lists
        for (int v = 0; v < g_.n.n; ++v)
            if (r_.of[v] >= 0 && r_.live[v])
                for (int k = 0; k < n_[v].operands; ++k) {
                    const int u = base_[n_[v].in[k]];
                    if (r_.of[u] < 0 || r_.g.p[r_.of[u]].root_op) continue;   // no walk's value
                    chain.push(first.p[u]);
                    first.p[u] = user.push(v);
                }
        growing<bool> counts(g_.n.n);   // a loop reads it, though no node does
        for (const loop& l : g_.loops)
            if (l.count >= 0) counts[base_[l.count]] = true;
        for (int from = r_.g.n - 1; from >= 0; --from) {
            group& q = r_.g[from];
            if (q.root_op || q.root < 0) continue;
            int to = r_.g.n;
            bool fine = true;
            for (int u = q.head; u >= 0; u = r_.next[u]) {
                fine = fine && n_[u].about->kind == op_kind::elementwise && !counts[u];
                for (int e = first[u]; e >= 0; e = chain[e])
                    if (const int t = r_.of[user[e]]; t != from && t < to) to = t;
            }
            if (!fine || to == r_.g.n) continue;
            group& t = r_.g[to];
            if (t.epoch != q.epoch || t.loop != q.loop) continue;
            if (q.members + t.members > r_.most_members || q.code + t.code > r_.most_code) continue;
            if (!same_space(q.space, t.space) || (t.root_op && !n_[t.root].about->epilogue)) continue;
            for (int u = q.head; fine && u >= 0; u = r_.next[u])
                for (int e = first[u]; e >= 0; e = chain[e]) {
                    const int v = user[e];
                    if (r_.of[v] != to) continue;
                    for (int k = 0; k < n_[v].operands; ++k) {
                        const int seen = n_[v].in[k];
                        if (base_[seen] != u) continue;
                        fine = fine && n_[v].about->kind != op_kind::root_op && same_space(n_[seen].s, n_[u].s) &&
                               reads_in_place(n_[seen].s, space_of(n_, v));
                    }
                }
            if (fine) merge(from, to);
        }
    }
    constexpr void mark_stored() {
        for (int v = 0; v < g_.n.n; ++v) {
            if (!r_.live[v] || is_view(n_[v])) continue;
            if (n_[v].about->kind == op_kind::get_output) r_.stored[v] = true;
            for (int k = 0; k < n_[v].operands; ++k) {
                const int u = base_[n_[v].in[k]];
                if (n_[v].about->kind == op_kind::get_output) continue;
                if (r_.of[v] == rematerialized || (r_.of[u] >= 0 && r_.of[u] != r_.of[v])) r_.stored[u] = r_.of[u] >= 0;
            }
        }
        for_each_root(g_, [&](int v) {
            if (v >= 0) r_.stored[base_[v]] = true;
        });
        for (int i = 0; i < r_.g.n; ++i) {   // kernels without an epilogue always write their result
            const group& q = r_.g[i];
            if (q.root >= 0 && q.root_op && !n_[q.root].about->epilogue) r_.stored[q.root] = true;
        }
    }

private:
    const graph_view& g_;
    grouping& r_;
    const node* const n_;   // clang counts the call of an operator [] as two steps: plain arrays cost none
    growing<int> bases_;
    const int* const base_;   ///< the node whose memory each shows

    constexpr void merge(int from, int to) {   // member lists by rising node number; a root op stays first
        group &q = r_.g[from], &t = r_.g[to];
        int a = q.head, b = t.head, head = -1, tail = -1;
        while (a >= 0 || b >= 0) {
            int& take = b < 0 || (a >= 0 && a < b && !(t.root_op && b == t.root)) ? a : b;
            const int v = take;
            take = r_.next[v];
            r_.of[v] = to;
            (tail < 0 ? head : r_.next[tail]) = v;
            tail = v;
        }
        r_.next[tail] = -1;
        t.head = head;
        t.tail = tail;
        t.members += q.members;
        t.code += q.code;
        q.root = q.head = -1;
    }
};

constexpr void sink_groups(const graph_view& g, grouping& r, bool on) {
    sinker s(g, r);
    if (on) s.sink();
    s.mark_stored();
    if (on) recompute(g, r);
}

namespace pass {
struct sink {   // where fusion is off, it only says what lies in memory
    static constexpr bool enabled(const target&, const program_options&) { return true; }
    static constexpr void run(const graph_view& g, grouping& r, const pass_settings& s) {
        sink_groups(g, r, s.options.fuse);
    }
};
} // namespace pass

} // namespace sinter::compiler
