// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/ops/detail/loops.hpp>
#include <sinter/compiler/traced.hpp>

/// Groups of nodes: what fusion makes; each will be one kernel.
namespace sinter::inline SINTER_TARGET::compiler {

inline constexpr int in_no_group = -1, rematerialized = -2;
inline constexpr int max_members = 40, max_code = 150, max_rematerialized = 30;

struct group {
    int root = -1, head = -1, tail = -1, members = 0, code = 0, epoch = 0, loop = 0;
    int pool = -1;                       ///< a max-pool that a convolution's kernel does in its registers
    shape space;                         ///< the extents that the kernel walks over
    bool root_op = false;
    bool is_producer = false;                  ///< a walk that the next group's kernel runs, some rows at a time
};
struct grouping {
    view<group> g;
    int *of, *next;                      ///< node -> its group, the next member of its group
    bool *live, *stored;                 ///< is it computed at all; must its value lie in memory
    int most_members = max_members, most_code = max_code;   ///< of one group
};
template <int N, int Groups = N>
struct fused {
    group g[std::size_t{Groups}];
    int of[std::size_t{N}], next[std::size_t{N}];
    bool live[std::size_t{N}], stored[std::size_t{N}];
    int groups = 0;
    constexpr fused() : g{}, of{}, next{}, live{}, stored{} {}
    constexpr grouping view() { return {{g, groups}, of, next, live, stored}; }
    /// The same with less capacity: only as many groups as there are.
    template <int Capacity>
    constexpr void take(const fused<N, Capacity>& f) {
        groups = f.groups;
        for (int i = 0; i < groups; ++i) g[i] = f.g[i];
        for (int i = 0; i < N; ++i) of[i] = f.of[i], next[i] = f.next[i], live[i] = f.live[i], stored[i] = f.stored[i];
    }
};

/// Does `group`, of which node u is no member, compute it for itself, rather than read it?
constexpr bool computed_again(const grouping& r, int u, int group) {
    return r.of[u] == rematerialized || (r.of[u] >= 0 && r.of[u] != group && !r.stored[u]);
}

/// The group behind whose end a group is done with what it reads.
constexpr int runs_until(const grouping& r, int group) {
    return group >= 0 && r.g[group].is_producer ? group + 1 : group;
}

/// The node whose memory a view shows.
template <class Nodes>
constexpr int base_of(const Nodes& n, int v) {
    while (v >= 0 && is_view(n[v])) v = n[v].in[0];
    return v;
}
/// base_of every node, for passes that ask often: into `workspace`.
constexpr const int* find_bases(view<const node> n, growing<int>& workspace) {
    int* const base = workspace.allocate(n.n);
    for (int v = 0; v < n.n; ++v) base[v] = n.p[v].about->kind == op_kind::view ? base[n.p[v].in[0]] : v;
    return base;
}
/// f(v) for what a step leaves, and what its loops count by: the loss, outputs, gradients, states'
/// new values; v is -1 where there is no such thing.
template <class F>
constexpr void for_each_result(const graph_view& g, F f) {
    f(g.loss);
    f(g.loss_weight);
    for (int v : g.outputs) f(v);
    for (int v : g.gradients) f(v);
    for (const assignment& a : g.assignments) f(a.value);
    for (const loop& l : g.loops) f(l.count), f(l.condition), f(l.trips);
}
/// f(v) for whatever is wanted besides kernels' operands: these, and what loops hand on.
template <class F>
constexpr void for_each_root(const graph_view& g, F f) {
    for_each_result(g, f);
    for (const loop_carry& c : g.carries) f(c.store), f(c.next);
}
constexpr bool same_space(const shape& a, const shape& b) {
    return a.batched == b.batched && a.form == b.form && a.rows() == b.rows() && a.last() == b.last();
}
/// Is v one value a row in a group that walks over `s`? Packed weights have no such rows.
constexpr bool row_level(const shape& v, const shape& s) {
    return v.last() == 1 && s.last() != 1 && v.batched == s.batched && v.rows() == s.rows() && v.form == s.form &&
           v.form != layout::weights;
}
constexpr bool reads_in_place(const shape& from, const shape& to) {
    return same_space(from, to) || row_level(from, to);
}
/// The extents that node v's own work walks over: a reduction's are its operand's.
constexpr const shape& space_of(const node* n, int v) {
    const op_kind k = n[v].about->kind;
    return k == op_kind::row_reduce || k == op_kind::col_reduce ? n[n[v].in[0]].s : n[v].s;
}

/// Does a group read u, itself or to compute what it needs and does not read? again(v): it computes
/// v, of another group, for itself.
template <class Again>
constexpr bool reads(const node* n, const int* base, const grouping& r, int group, int u, Again again) {
    const auto by = [&](auto&& self, int v) -> bool {
        for (int k = 0; k < n[v].operands; ++k)
            if (const int b = base[n[v].in[k]]; b == u || (again(b) && self(self, b))) return true;
        return false;
    };
    for (int v = r.g[group].head; v >= 0; v = r.next[v])
        if (by(by, v)) return true;
    return false;
}

/// Puts the groups into another order: new place -> old group.
constexpr void reorder_groups(grouping& r, int nodes, const growing<int>& order) {
    growing<int> place(r.g.n, 0);
    growing<group> old;
    for (const group& q : r.g) old.push(q);
    for (int i = 0; i < order.n; ++i) {
        r.g[i] = old[order[i]];
        place[order[i]] = i;
    }
    for (int v = 0; v < nodes; ++v)
        if (r.of[v] >= 0) r.of[v] = place[r.of[v]];
}

} // namespace sinter::compiler
