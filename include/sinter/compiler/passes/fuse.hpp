// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/broadcast.hpp>
#include <sinter/compiler/passes/sink.hpp>
#include <sinter/compiler/emit/spec.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// Fusion: every live node that must be computed joins one group; a group becomes one kernel.
///
/// A group is either a root op with the elementwise work behind it, or a walk over rows and
/// columns whose members are elementwise values, reductions of rows and sums of columns. A group
/// stands where its first node stands. A node may join the latest group among its operands' if
/// everything else it reads comes from earlier groups: that alone keeps the groups' order free of
/// cycles. Values made only of constants, random numbers or inputs by a cheap operation float: they
/// are computed again wherever they are used, and never stored.
namespace sinter::inline SINTER_TARGET::compiler {

class fuser {
public:
    constexpr fuser(const graph_view& g, grouping& r, bool on, bool pools)
        : g_(g), r_(r), n_(g.n.p), on_(on), pools_(pools), base_(find_bases(g.n, bases_)), uses_(g.n.n), weight_(g.n.n),
          elsewhere_(g.n.n), of_input_(g.n.n), drawn_(g.n.n), read_by_loops_(g.n.n), root_(g.n.n), waits_(g.n.n),
          last_of_loop_(g.loops.n + 1, in_no_group) {}

    constexpr void run() {
        for (int i = 0; i < g_.n.n; ++i) r_.of[i] = r_.next[i] = in_no_group;
        mark_live();
        for (int v = 0; v < g_.n.n; ++v)
            if (r_.live[v] && !is_leaf(n_[v]) && !is_view(n_[v])) place(v);
    }

private:
    const graph_view& g_;
    grouping& r_;
    const node* const n_;   // clang counts the call of an operator [] as two steps: plain arrays cost none
    bool on_, pools_;
    growing<int> bases_;
    const int* const base_;     ///< the node whose memory each shows
    growing<int> uses_;
    growing<int> weight_;       ///< instructions that a rematerialized value costs whoever uses it
    growing<bool> elsewhere_;   ///< read by a kernel, or under other extents: not only element by element in place
    growing<bool> of_input_, drawn_;  ///< made of inputs; of random numbers
    growing<bool> read_by_loops_;   ///< made outside of loops, read by their iterations
    growing<bool> root_;           ///< wanted when the step is over
    growing<bool> waits_;             ///< to be placed with its only user
    growing<int> last_of_loop_;       ///< the last group of each loop, so far

    constexpr void mark_live() {
        for_each_root(g_, [&](int v) {
            if (v >= 0) r_.live[v] = root_[base_[v]] = true, uses_[base_[v]] += 2;
        });
        for (int i = g_.n.n - 1; i >= 0; --i) {
            if (!r_.live[i]) continue;
            const node& n = n_[i];
            for (int k = 0; k < n.operands; ++k) {
                r_.live[n.in[k]] = true;
                if (is_view(n)) {
                    if (n.loop != n_[n.in[k]].loop && n.k != op::loop_saved)
                        elsewhere_[base_[n.in[k]]] = true;   // by slices
                    continue;
                }
                const int u = base_[n.in[k]];
                ++uses_[u];
                if (n.loop && !n_[u].loop) read_by_loops_.p[u] = true;
                if (elsewhere_.p[u]) continue;
                const op_kind kind = n.about->kind;
                const shape& seen = n_[n.in[k]].s;
                if (kind == op_kind::root_op) elsewhere_.p[u] = true;
                else if (seen.size() != 1 || seen.batched)
                    elsewhere_.p[u] = (n.in[k] != u && !same_space(seen, n_[u].s)) ||
                                      (kind == op_kind::elementwise && !same_space(seen, n.s) &&
                                       !(n_[u].k == op::to_float && row_level(seen, n.s)));
            }
        }
    }

    constexpr bool floats(int v) {
        const node& n = n_[v];
        if (n.about->kind != op_kind::elementwise || elsewhere_[v] || root_[v]) return false;
        bool& input = of_input_[v];   // examples differ: what is made of them must be cheap, for it is made often
        bool& drawn = drawn_[v] = n.about->varies_by_iteration;
        for (int k = 0; k < n.operands; ++k) {
            const int u = base_[n.in[k]];
            const node& o = n_[u];
            if (o.k == op::input) input = true;
            else if (o.k != op::constant && r_.of[u] != rematerialized) return false;
            else input = input || of_input_[u], drawn = drawn || drawn_[u];
        }
        if (drawn && read_by_loops_[v]) return false;   // each iteration would draw numbers of its own
        return instructions_of(n) <= max_rematerialized && (!input || n.about->flops(n, nullptr) <= n.s.size());
    }
    constexpr bool fits(int v, group& q) const {
        const shape& s = space_of(n_, v);
        if (same_space(s, q.space)) return true;
        if (q.root_op) return false;
        if (row_level(s, q.space)) return true;
        return row_level(q.space, s);   // a group of one value a row widens to rows
    }

    constexpr bool can_join(int v, int to) const {
        group& q = r_.g[to];
        const node& n = n_[v];
        const op_kind kind = n.about->kind;
        if (kind == op_kind::root_op) return joins_as_pool(v, to);
        if (!on_ || q.members >= r_.most_members || q.code + instructions_of(n) > r_.most_code) return false;
        if (n.loop != q.loop || (n.epoch != q.epoch && n.epoch != 0)) return false;
        if (q.root_op && (!n_[q.root].about->epilogue || kind == op_kind::row_reduce)) return false;
        if (q.root_op && kind == op_kind::col_reduce && n_[q.root].about->sums_rows) return false;
        if (q.root_op && q.space.last() <= narrow_columns && q.members >= 2)
            return false;   // its vectors would be nearly empty
        if (!fits(v, q)) return false;
        for (int k = 0; k < n.operands; ++k) {
            const int u = base_[n.in[k]];
            if (r_.of[u] > to) return false;
            // what a loop left: not in a group between the loop's, which is run before it
            if (!n.loop && n_[u].loop && to < last_of_loop_[n_[u].loop]) return false;
            if (r_.of[u] != to) continue;
            // a value of this very group: it must be at hand at the same place, whatever views lie
            // between
            if (n_[u].about->kind == op_kind::col_reduce || (q.pool >= 0 && u == q.root)) return false;
            if (n.in[k] != u && !same_space(n_[n.in[k]].s, n_[u].s)) return false;
            if (kind == op_kind::elementwise && !reads_in_place(n_[n.in[k]].s, n.s)) return false;
        }
        return true;
    }
    /// At most so many instructions does a member become: itself, a store, and its operands' loads,
    /// or what it takes to keep them from an earlier pass over the row, or the rematerialized
    /// values that they are.
    constexpr int instructions_of(const node& n) const {
        int instructions = 2 + 2 * n.operands;
        for (int k = 0; k < n.operands; ++k) instructions += weight_[base_[n.in[k]]];
        return instructions;
    }
    /// Square windows side by side, without padding.
    static constexpr bool is_tiling(const node& pool) {
        const int* const p = pool.p;
        const int size = p[pool_attribute::kh];
        return size == p[pool_attribute::kw] && size == p[pool_attribute::v_stride] &&
               size == p[pool_attribute::h_stride] && !p[pool_attribute::above] && !p[pool_attribute::left];
    }
    constexpr bool joins_as_pool(int v, int to) const {
        const node& n = n_[v];
        if (!on_ || !pools_ || n.loop != r_.g[to].loop || !is(n, op_role::max_pool) || !is_tiling(n)) return false;
        const int c = n.in[0];
        const int size = n.p[pool_attribute::kh];
        if (n.s.d[0] * size > n_[c].s.d[0] || n.s.d[1] * size > n_[c].s.d[1])
            return false;   // windows hang over the edge
        return is(n_[c], op_role::convolution) && r_.of[c] == to && r_.g[to].members == 1 && uses_[c] == 1 &&
               n_[c].p[conv_attribute::stride] == 1;
    }

    /// One of the latest walks, begun behind group `after`, that reads what v reads, or what a
    /// reduction's operand is made of.
    constexpr int walk_over_the_same(int v, int after) const {
        for (int i = r_.g.n - 1; i > after && i > r_.g.n - 5; --i)
            if (!r_.g[i].root_op && can_join(v, i) &&
                (shares(v, i) || (reduces_rows(v) && shares(base_[n_[v].in[0]], i))))
                return i;
        return in_no_group;
    }
    constexpr bool reduces_rows(int v) const { return n_[v].about->kind == op_kind::row_reduce; }
    constexpr bool shares(int v, int group) const {
        for (int w = r_.g[group].head; w >= 0; w = r_.next[w])
            for (int k = 0; k < n_[w].operands; ++k)
                for (int o = 0; o < n_[v].operands; ++o)
                    if (const int u = base_[n_[v].in[o]]; u == base_[n_[w].in[k]] && n_[u].s.size() > 1) return true;
        return false;
    }

    constexpr void place(int v) {
        const node& n = n_[v];
        if (on_ && floats(v)) {
            r_.of[v] = rematerialized;
            weight_[v] = instructions_of(n);
            return;
        }
        const op_kind kind = n.about->kind;
        int to = in_no_group;
        if (kind == op_kind::get_output) {
            to = r_.of[n.in[0]];
        } else {
            to = latest_operand(n);
            if (place_waiting(v, to)) to = latest_operand(n);
            else if (may_wait(v, to)) return void(waits_[v] = true);
            if (to >= 0) {
                if (!can_join(v, to)) to = kind == op_kind::root_op ? in_no_group : walk_over_the_same(v, to);
            } else if (kind != op_kind::root_op) {
                // made of inputs alone, or of what was there before the loop: a walk begun lately
                // will do
                for (int i = r_.g.n - 1; i >= 0 && i > r_.g.n - 5 && to < 0; --i)
                    if (!r_.g[i].root_op && can_join(v, i)) to = i;
            }
        }
        put(v, to);
    }
    constexpr int latest_operand(const node& n) const {
        int to = in_no_group;
        for (int k = 0; k < n.operands; ++k)
            if (const int u = base_[n.in[k]]; r_.of[u] > to && (!n.loop || r_.g[r_.of[u]].loop == n.loop))
                to = r_.of[u];
        return to;
    }
    /// Elementwise work on what was there before, for one user: it joins that one's group, if it
    /// can, instead of beginning one to which the user would go. So what a kernel can compute again
    /// from arrays that it reads anyway is not stored before.
    constexpr bool may_wait(int v, int to) const {
        const node& n = n_[v];
        return on_ && n.about->kind == op_kind::elementwise && !n.loop && to >= 0 && uses_[v] == 1 && !elsewhere_[v] &&
               !root_[v] && !can_join(v, to);
    }
    /// Places the operands of v that waited for it; `to`: where v would go to by the others. Was
    /// there one?
    constexpr bool place_waiting(int v, int to) {
        bool any = false;
        for (int k = 0; k < n_[v].operands; ++k) {
            const int u = base_[n_[v].in[k]];
            if (!waits_[u]) continue;
            any = true;
            waits_[u] = false;
            put(u, to >= 0 && can_join(u, to) && can_join(v, to) ? to : in_no_group);
        }
        return any;
    }
    constexpr void put(int v, int to) {
        const node& n = n_[v];
        const op_kind kind = n.about->kind;
        const int cost = instructions_of(n);
        if (to < 0) {
            to = r_.g.push({.root = v,
                            .head = v,
                            .tail = v,
                            .members = 1,
                            .code = 4 + cost,
                            .epoch = n.epoch,
                            .loop = n.loop,
                            .space = space_of(n_, v),
                            .root_op = kind == op_kind::root_op});
        } else {
            group& q = r_.g[to];
            int before = v > q.tail ? q.tail : q.head;   // members stand by rising number, a root op first
            if (!q.root_op && v < before) {
                r_.next[v] = before;
                q.head = v;
            } else {
                while (r_.next[before] >= 0 && r_.next[before] < v) before = r_.next[before];
                r_.next[v] = r_.next[before];
                r_.next[before] = v;
                if (before == q.tail) q.tail = v;
            }
            ++q.members;
            q.code += cost;
            if (kind == op_kind::root_op) {
                q.pool = v;
                q.space = n.s;
            } else if (kind != op_kind::get_output && row_level(q.space, space_of(n_, v))) {
                q.space = space_of(n_, v);
            }
        }
        r_.of[v] = to;
        if (last_of_loop_[n.loop] < to) last_of_loop_[n.loop] = to;
    }
};

/// The first half: `pools`: a convolution takes the max-pool behind it into its kernel.
constexpr void group_nodes(const graph_view& g, grouping& r, bool on = true, bool pools = true) {
    fuser(g, r, on, pools).run();
}
/// Both halves.
constexpr void fuse(const graph_view& g, grouping& r, bool on = true, bool pools = true) {
    group_nodes(g, r, on, pools);
    sink_groups(g, r, on);
}

namespace pass {
struct fuse {   // where fusion is off, it gives each node a group of its own
    static constexpr bool enabled(const target&, const program_options&) { return true; }
    static constexpr void run(const graph_view& g, grouping& r, const pass_settings& s) {
        group_nodes(g, r, s.options.fuse, s.target.pooled_convolutions);
    }
};
} // namespace pass

} // namespace sinter::compiler
