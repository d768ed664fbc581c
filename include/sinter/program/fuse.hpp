// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/broadcast.hpp>
#include <sinter/ops/detail/table.hpp>
#include <sinter/program/traced.hpp>

/// Fusion: every live node that must be computed joins one group; a group becomes one kernel.
///
/// A group is either a heavy node with the elementwise work behind it, or a walk over rows and columns whose members are
/// elementwise values, reductions of rows and sums of columns. A group stands where its first node stands. A node may
/// join the latest group among its operands' if everything else it reads comes from earlier groups: that alone keeps
/// the groups' order free of cycles. Values made only of constants, random numbers or inputs by a cheap operation float:
/// they are computed again wherever they are used, and never stored.
namespace sinter {

inline constexpr int in_no_group = -1, floating = -2;
inline constexpr int max_members = 40, max_code = 150, max_floating = 30;

struct group {
    int root = -1, head = -1, tail = -1, members = 0, code = 0, epoch = 0;
    int pool = -1;                       ///< a max-pool that a convolution's kernel does in its registers
    shape space;                         ///< the extents that the kernel walks over
    bool heavy = false;
};
struct grouping {
    view<group> g;
    int *of, *next;                      ///< node -> its group, the next member of its group
    bool *live, *stored;                 ///< is it computed at all; must its value lie in memory
};
template <int N>
struct fused {
    group g[N];
    int of[N], next[N];
    bool live[N], stored[N];
    int groups = 0;
    constexpr fused() : g{}, of{}, next{}, live{}, stored{} {}
    constexpr grouping view() { return {{g, groups}, of, next, live, stored}; }
};

/// The node whose memory a view shows.
template <class Nodes>
constexpr int base_of(const Nodes& n, int v) {
    while (v >= 0 && is_view(n[v].k)) v = n[v].in[0];
    return v;
}
constexpr bool same_space(const shape& a, const shape& b) {
    return a.batched == b.batched && a.form == b.form && a.rows() == b.rows() && a.last() == b.last();
}

class fuser {
public:
    constexpr fuser(const graph_view& g, grouping& r, bool on, bool pools)
        : g_(g), r_(r), on_(on), pools_(pools), uses_(g.n.n, 0), weight_(g.n.n, 0), elsewhere_(g.n.n, false),
          of_input_(g.n.n, false), root_(g.n.n, false) {}

    constexpr void run() {
        for (int i = 0; i < g_.n.n; ++i) r_.of[i] = r_.next[i] = in_no_group;
        mark_live();
        for (int v = 0; v < g_.n.n; ++v)
            if (r_.live[v] && !is_leaf(g_.n[v].k) && !is_view(g_.n[v].k)) place(v);
        if (on_) sink();
        mark_stored();
    }

private:
    const graph_view& g_;
    grouping& r_;
    bool on_, pools_;
    growing<int> uses_;
    growing<int> weight_;       ///< words that a floating value costs whoever uses it
    growing<bool> elsewhere_;   ///< read by a kernel, or under other extents: not only element by element in place
    growing<bool> of_input_, root_;   ///< made of inputs; wanted when the step is over

    constexpr void mark_live() {
        auto root = [&](int v) {
            if (v >= 0) r_.live[v] = root_[base_of(g_.n, v)] = true, uses_[base_of(g_.n, v)] += 2;
        };
        root(g_.loss);
        for (int v : g_.outputs) root(v);
        for (int v : g_.gradients) root(v);
        for (const assignment& a : g_.assignments) root(a.value);
        for (int i = g_.n.n - 1; i >= 0; --i) {
            if (!r_.live[i]) continue;
            const node& n = g_.n[i];
            for (int k = 0; k < n.operands; ++k) {
                r_.live[n.in[k]] = true;
                if (is_view(n.k)) continue;
                const int u = base_of(g_.n, n.in[k]);
                ++uses_[u];
                const op_kind kind = info(n.k).kind;
                const shape& seen = g_.n[n.in[k]].s;
                const bool in_place = seen.size() == 1 && !seen.batched ? true : same_space(seen, g_.n[u].s) &&
                                      (kind == op_kind::elementwise ? same_space(seen, n.s) || (g_.n[u].k == op::to_float && row_level(seen, n.s))
                                                               : kind != op_kind::heavy);
                if (!in_place || kind == op_kind::heavy) elsewhere_[u] = true;
            }
        }
    }

    constexpr shape space(int v) const {
        const op_kind k = info(g_.n[v].k).kind;
        return k == op_kind::row_reduce || k == op_kind::col_reduce ? g_.n[g_.n[v].in[0]].s : g_.n[v].s;
    }

    constexpr bool floats(int v) {
        const node& n = g_.n[v];
        if (info(n.k).kind != op_kind::elementwise || elsewhere_[v] || root_[v]) return false;
        bool& input = of_input_[v];   // examples differ: what is made of them must be cheap, for it is made often
        for (int k = 0; k < n.operands; ++k) {
            const int u = base_of(g_.n, n.in[k]);
            const node& o = g_.n[u];
            if (o.k == op::input) input = true;
            else if (o.k != op::constant && r_.of[u] != floating) return false;
            else input = input || of_input_[u];
        }
        return words_of(n) <= max_floating && (!input || info(n.k).flops(n, nullptr) <= n.s.size());
    }
    /// Is v one value a row in a group that walks over `s`?
    static constexpr bool row_level(const shape& v, const shape& s) {
        return v.last() == 1 && s.last() != 1 && v.batched == s.batched && v.rows() == s.rows();
    }

    constexpr bool fits(int v, group& q) const {
        const shape s = space(v);
        if (same_space(s, q.space)) return true;
        if (q.heavy) return false;
        if (row_level(s, q.space)) return true;
        return row_level(q.space, s);   // a group of one value a row widens to rows
    }

    constexpr bool can_join(int v, int to) const {
        group& q = r_.g[to];
        const node& n = g_.n[v];
        const op_kind kind = info(n.k).kind;
        if (kind == op_kind::heavy) return joins_as_pool(v, to);
        if (!on_ || q.members >= max_members || q.code + words_of(n) > max_code) return false;
        if (n.epoch != q.epoch && n.epoch != 0) return false;
        if (q.heavy && (!info(g_.n[q.root].k).epilogue || kind == op_kind::row_reduce)) return false;
        if (q.heavy && kind == op_kind::col_reduce && sums_rows_already(g_.n[q.root].k)) return false;
        if (!fits(v, q)) return false;
        for (int k = 0; k < n.operands; ++k) {
            const int u = base_of(g_.n, n.in[k]);
            if (r_.of[u] > to) return false;
            if (r_.of[u] != to) continue;
            // a value of this very group: it must be at hand at the same place, whatever views lie between
            if (info(g_.n[u].k).kind == op_kind::col_reduce || (q.pool >= 0 && u == q.root)) return false;
            if (n.in[k] != u && !same_space(g_.n[n.in[k]].s, g_.n[u].s)) return false;
            if (kind == op_kind::elementwise && !reads_in_place(g_.n[n.in[k]].s, n.s)) return false;
        }
        return true;
    }
    /// At most so many words does a member become: itself, a store, and its operands' loads, or what it takes to keep them
    /// from an earlier pass over the row, or the floating values that they are.
    constexpr int words_of(const node& n) const {
        int words = 2 + 2 * n.operands;
        for (int k = 0; k < n.operands; ++k) words += weight_[base_of(g_.n, n.in[k])];
        return words;
    }
    static constexpr bool sums_rows_already(op k) {
        return k == op::gemm_tn || k == op::conv_weight_gradient || k == op::scatter_rows;
    }
    static constexpr bool reads_in_place(const shape& from, const shape& to) {
        return same_space(from, to) || row_level(from, to);
    }
    constexpr bool joins_as_pool(int v, int to) const {
        const node& n = g_.n[v];
        if (!on_ || !pools_ || n.k != op::max_pool || n.p[0] != n.p[1] || n.p[2] || n.p[3]) return false;
        const int c = n.in[0];
        return g_.n[c].k == op::conv && r_.of[c] == to && r_.g[to].members == 1 && uses_[c] == 1 && g_.n[c].p[2] == 1;
    }

    constexpr void place(int v) {
        const node& n = g_.n[v];
        if (on_ && floats(v)) {
            r_.of[v] = floating;
            weight_[v] = words_of(n);
            return;
        }
        const op_kind kind = info(n.k).kind;
        int to = in_no_group;
        if (kind == op_kind::pick) {
            to = r_.of[n.in[0]];
        } else {
            for (int k = 0; k < n.operands; ++k)
                if (const int u = base_of(g_.n, n.in[k]); r_.of[u] > to) to = r_.of[u];
            if (to >= 0) {
                if (!can_join(v, to)) to = in_no_group;
            } else if (kind != op_kind::heavy) {   // made of inputs alone, it may as well join a walk begun lately
                for (int i = r_.g.n - 1; i >= 0 && i > r_.g.n - 5 && to < 0; --i)
                    if (!r_.g[i].heavy && can_join(v, i)) to = i;
            }
        }
        const int cost = words_of(n);
        if (to < 0) {
            to = r_.g.push({.root = v, .head = v, .tail = v, .members = 1, .code = 4 + cost, .epoch = n.epoch,
                            .space = space(v), .heavy = kind == op_kind::heavy});
        } else {
            group& q = r_.g[to];
            r_.next[q.tail] = v;
            q.tail = v;
            ++q.members;
            q.code += cost;
            if (kind == op_kind::heavy) {
                q.pool = v;
                q.space = n.s;
            } else if (kind != op_kind::pick && row_level(q.space, space(v))) {
                q.space = space(v);
            }
        }
        r_.of[v] = to;
    }

    /// A walk moves down into the first group that uses its results, if that does the same walk and reads them in place:
    /// what it reads is ready before, and every other user comes later still.
    constexpr void sink() {
        growing<int> first(g_.n.n, -1), chain, user;   // uses of each node, as lists
        for (int v = 0; v < g_.n.n; ++v)
            if (r_.of[v] >= 0 && r_.live[v])
                for (int k = 0; k < g_.n[v].operands; ++k) {
                    const int u = base_of(g_.n, g_.n[v].in[k]);
                    chain.push(first[u]);
                    first[u] = user.push(v);
                }
        for (int from = r_.g.n - 1; from >= 0; --from) {
            group& q = r_.g[from];
            if (q.heavy || q.root < 0) continue;
            int to = r_.g.n;
            bool fine = true;
            for (int u = q.head; u >= 0; u = r_.next[u]) {
                fine = fine && info(g_.n[u].k).kind == op_kind::elementwise;
                for (int e = first[u]; e >= 0; e = chain[e])
                    if (const int t = r_.of[user[e]]; t != from && t < to) to = t;
            }
            if (!fine || to == r_.g.n) continue;
            group& t = r_.g[to];
            if (t.epoch != q.epoch || q.members + t.members > max_members || q.code + t.code > max_code) continue;
            if (!same_space(q.space, t.space) || (t.heavy && !info(g_.n[t.root].k).epilogue)) continue;
            for (int u = q.head; fine && u >= 0; u = r_.next[u])
                for (int e = first[u]; e >= 0; e = chain[e]) {
                    const int v = user[e];
                    if (r_.of[v] != to) continue;
                    for (int k = 0; k < g_.n[v].operands; ++k) {
                        const int seen = g_.n[v].in[k];
                        if (base_of(g_.n, seen) != u) continue;
                        fine = fine && info(g_.n[v].k).kind != op_kind::heavy && same_space(g_.n[seen].s, g_.n[u].s) &&
                               reads_in_place(g_.n[seen].s, space(v));
                    }
                }
            if (fine) merge(from, to);
        }
    }
    constexpr void merge(int from, int to) {   // member lists by rising node number; a heavy root stays first
        group &q = r_.g[from], &t = r_.g[to];
        int a = q.head, b = t.head, head = -1, tail = -1;
        while (a >= 0 || b >= 0) {
            int& take = b < 0 || (a >= 0 && a < b && !(t.heavy && b == t.root)) ? a : b;
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

    constexpr void mark_stored() {
        auto store = [&](int v) {
            if (v >= 0) r_.stored[base_of(g_.n, v)] = true;
        };
        for (int v = 0; v < g_.n.n; ++v) {
            if (!r_.live[v] || is_view(g_.n[v].k)) continue;
            if (info(g_.n[v].k).kind == op_kind::pick) r_.stored[v] = true;
            for (int k = 0; k < g_.n[v].operands; ++k) {
                const int u = base_of(g_.n, g_.n[v].in[k]);
                if (info(g_.n[v].k).kind == op_kind::pick) continue;
                if (r_.of[v] == floating || (r_.of[u] >= 0 && r_.of[u] != r_.of[v])) r_.stored[u] = r_.of[u] >= 0;
            }
        }
        store(g_.loss);
        for (int v : g_.outputs) store(v);
        for (int v : g_.gradients) store(v);
        for (const assignment& a : g_.assignments) store(a.value);
        for (int i = 0; i < r_.g.n; ++i) {   // kernels without an epilogue always write their result
            const group& q = r_.g[i];
            if (q.root >= 0 && q.heavy && !info(g_.n[q.root].k).epilogue) r_.stored[q.root] = true;
        }
    }
};

/// `pools`: a convolution takes the max-pool behind it into its kernel.
constexpr void fuse(const graph_view& g, grouping& r, bool on = true, bool pools = true) { fuser(g, r, on, pools).run(); }

} // namespace sinter
