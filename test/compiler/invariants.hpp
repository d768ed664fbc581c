// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>

#include "compiler/passes.hpp"

/// What must hold of any grouping and any plan, checked by brute force.
namespace sinter::test {
using namespace compiler;

/// Whoever reads node u computes it: of constants, inputs, and what is stored or computed again in iteration.
inline void check_computed_again(passes& p, int u) {
    const graph& g = p.g;
    const grouping r = p.groups();
    BOOST_TEST((g.n[u].about->kind == op_kind::elementwise));
    BOOST_TEST(g.n[u].about->flops(g.n[u], nullptr) <= g.n[u].s.size());
    BOOST_TEST(!g.n[u].loop);
    for (int k = 0; k < g.n[u].operands; ++k) {
        const int x = base_of(g.n, g.n[u].in[k]);
        if (g.n[x].k == op::constant || g.n[x].k == op::input) continue;
        BOOST_TEST(r.of[x] >= 0);
        if (!r.stored[x]) check_computed_again(p, x);
    }
}

/// Each live node that must be computed is in exactly one group's list or floats; what it reads comes from an earlier
/// group, or from the same one where it is at hand at the same place; what another group reads is stored, or one cheap
/// operation on what is.
inline void check_groups(passes& p) {
    const graph& g = p.g;
    const grouping r = p.groups();
    std::vector<int> listed(static_cast<std::size_t>(g.n.n), 0);
    for (int i = 0; i < r.g.n; ++i) {
        const group& q = r.g[i];
        if (q.root < 0) continue;
        int members = 0;
        std::vector<bool> before(static_cast<std::size_t>(g.n.n), false);
        for (int v = q.head; v >= 0; v = r.next[v]) {
            BOOST_TEST_CONTEXT("group " << i << ", node " << v << " (" << g.n[v].about->self.name << ')') {
                BOOST_TEST(r.of[v] == i);
                ++listed[v];
                ++members;
                const op_kind kind = g.n[v].about->kind;
                if (v != q.root && v != q.pool) BOOST_TEST((kind != op_kind::root_op));
                if (q.root_op && v != q.root) BOOST_TEST((kind != op_kind::row_reduce));
                for (int k = 0; k < g.n[v].operands; ++k) {
                    const int seen = g.n[v].in[k], u = base_of(g.n, seen);
                    if (is_leaf(g.n[u]) || r.of[u] == rematerialized) continue;
                    BOOST_TEST(r.live[u]);
                    BOOST_TEST(r.of[u] >= 0);
                    BOOST_TEST(r.of[u] <= i);
                    if (r.of[u] < i && !r.stored[u]) check_computed_again(p, u);
                    if (r.of[u] != i || kind == op_kind::get_output) continue;
                    BOOST_TEST(before[u]);
                    BOOST_TEST((g.n[u].about->kind != op_kind::col_reduce));
                    BOOST_TEST(g.n[seen].s.rows() == g.n[u].s.rows());
                    BOOST_TEST(g.n[seen].s.last() == g.n[u].s.last());
                }
                before[v] = true;
            }
        }
        BOOST_TEST(members == q.members);
        BOOST_TEST(members <= max_members);
    }
    for (int v = 0; v < g.n.n; ++v) {
        const bool computed = r.live[v] && !is_leaf(g.n[v]) && !is_view(g.n[v]) && r.of[v] != rematerialized;
        BOOST_TEST(listed[v] == (computed ? 1 : 0), "node " << v << " stands in " << listed[v] << " lists");
        if (r.live[v] && r.of[v] == rematerialized)
            for (int k = 0; k < g.n[v].operands; ++k) {
                const int u = base_of(g.n, g.n[v].in[k]);
                BOOST_TEST((r.of[u] == rematerialized || g.n[u].k == op::constant || g.n[u].k == op::input));
            }
    }
}

/// Does group `group` read node u?
inline bool reads(const passes& p, const grouping& r, int group, int u) {
    const auto by = [&](auto&& self, int v) -> bool {
        for (int k = 0; k < p.g.n[v].operands; ++k) {
            const int b = base_of(p.g.n, p.g.n[v].in[k]);
            if (b == u || (computed_again(r, b, group) && self(self, b))) return true;
        }
        return false;
    };
    for (int v = r.g[group].head; v >= 0; v = r.next[v])
        if (by(by, v)) return true;
    return false;
}
/// A walk leads the kernel right behind it: that one's first operand is of the walk, nothing else
/// of the walk is read before or by it, and it changes nothing that the walk reads.
inline void check_fused_producers(passes& p) {
    const graph& g = p.g;
    const grouping r = p.groups();
    for (int i = 0; i < r.g.n; ++i) {
        if (!r.g[i].is_producer) continue;
        BOOST_REQUIRE(i + 1 < r.g.n);
        const group &q = r.g[i], &by = r.g[i + 1];
        BOOST_TEST(!q.root_op);
        BOOST_REQUIRE((by.root >= 0 && by.root_op));
        const int made = base_of(g.n, g.n[by.root].in[0]);
        BOOST_TEST(r.of[made] == i);
        BOOST_TEST(same_space(g.n[g.n[by.root].in[0]].s, q.space));
        for (int v = q.head; v >= 0; v = r.next[v]) {
            BOOST_TEST((g.n[v].about->kind == op_kind::elementwise));
            if (v != made && r.stored[v]) BOOST_TEST(!reads(p, r, i + 1, v));
        }
        for (int v = by.head; v >= 0; v = r.next[v])
            for (int k = v == by.root; k < g.n[v].operands; ++k) BOOST_TEST(base_of(g.n, g.n[v].in[k]) != made);
        for (int k = 0; k < p.gradients.n; ++k)
            if (p.updated[k] && r.of[base_of(g.n, p.gradients[k])] == i + 1)
                BOOST_TEST(!reads(p, r, i, g.parameters[k].id));
    }
}

/// May v be written over u? Where v's group reads u last, each element before it writes that
/// element: only elementwise, and behind a kernel of its own or in a walk that makes one pass over
/// each row.
inline bool may_lie_over(const passes& p, const grouping& r, int v, int u, int last_of_u) {
    const graph& g = p.g;
    const group& q = r.g[r.of[v]];
    if (runs_until(r, r.of[v]) != last_of_u || (q.is_producer && reads(p, r, last_of_u, u))) return false;
    if (!same_space(g.n[v].s, q.space) || !same_space(g.n[u].s, q.space)) return false;
    for (int w = q.head; w >= 0; w = r.next[w]) {
        const op_kind kind = g.n[w].about->kind;
        if (kind != op_kind::elementwise && kind != op_kind::col_reduce &&
            !(w == q.root && g.n[w].about->epilogue && q.pool < 0))
            return false;
        for (int k = 0; k < g.n[w].operands; ++k)
            if (base_of(g.n, g.n[w].in[k]) == u &&
                (kind == op_kind::root_op || !same_space(g.n[g.n[w].in[k]].s, q.space)))
                return false;
    }
    return true;
}

/// No two values that are alive at the same time overlap; all lie within the arena, on 64 bytes; no parameter's update
/// comes before its last reader; no state is overwritten before it is read.
inline void check_plan(passes& p, const choices& c) {
    const graph& g = p.g;
    const grouping r = p.groups();
    std::vector<int> first(static_cast<std::size_t>(g.n.n), -1), last(first);
    // what floats, or is computed again, is read where it is computed
    auto use = [&](auto&& self, int v, int group) -> void {
        const int u = base_of(g.n, v);
        if (computed_again(r, u, group))
            for (int k = 0; k < g.n[u].operands; ++k) self(self, g.n[u].in[k], group);
        if (last[u] < group) last[u] = group;
    };
    for (int v = 0; v < g.n.n; ++v) {
        if (!r.live[v] || r.of[v] < 0) continue;
        first[v] = r.of[v];
        if (last[v] < r.of[v]) last[v] = r.of[v];
        for (int k = 0; k < g.n[v].operands; ++k) use(use, g.n[v].in[k], runs_until(r, r.of[v]));
    }
    const int end = r.g.n;
    for (int i = 0; i < g.outputs.n; ++i) use(use, g.outputs[i], end);
    if (g.loss >= 0) use(use, g.loss, end);
    std::int64_t peak = 0;
    for (int v = 0; v < g.n.n; ++v) {
        if (!r.stored[v] || r.of[v] < 0) continue;
        const address a = p.p.at[v];
        if (a.where() == space::none) {   // only a gradient that its own kernel uses up
            bool used_up = false;
            for (int i = 0; i < p.gradients.n; ++i)
                used_up = used_up || (p.updated[i] && base_of(g.n, p.gradients[i]) == v);
            BOOST_TEST(used_up, "node " << v << " is stored nowhere");
            continue;
        }
        BOOST_TEST(a.offset() % 16 == 0);
        if (a.where() != space::activation) continue;
        const std::int64_t size = place_size(g.n[v], c.target, c.max_batch);
        BOOST_TEST(size >= floats_of(g.n[v], c.target, c.max_batch));
        BOOST_TEST(a.offset() + size <= p.p.z.activations);
        peak = std::max(peak, a.offset() + size);
        for (int u = 0; u < v; ++u) {
            if (!r.stored[u] || r.of[u] < 0 || p.p.at[u].where() != space::activation) continue;
            if (last[u] < first[v] || last[v] < first[u]) continue;
            const std::int64_t at = p.p.at[u].offset(), size_u = place_size(g.n[u], c.target, c.max_batch);
            if (at == a.offset() && size == size_u &&
                (may_lie_over(p, r, v, u, last[u]) || may_lie_over(p, r, u, v, last[v])))
                continue;
            BOOST_TEST((at + size_u <= a.offset() || a.offset() + size <= at),
                       "nodes " << u << " and " << v << " overlap");
        }
    }
    BOOST_TEST(peak == p.p.z.activations);
    for (int i = 0; i < p.gradients.n; ++i)
        if (p.updated[i]) BOOST_TEST(last[g.parameters[i].id] < r.of[base_of(g.n, p.gradients[i])]);
    for (int i = 0; i < g.assignments.n; ++i) {
        const int v = base_of(g.n, g.assignments[i].value), s = g.assignments[i].target;
        if (r.of[v] < 0 || p.p.at[v] != p.p.at[s]) continue;
        BOOST_TEST(last[s] <= r.of[v]);
        if (r.of[v] > 0 && r.g[r.of[v] - 1].is_producer) BOOST_TEST(!reads(p, r, r.of[v] - 1, s));
    }
}

/// Kernels' code: operands of an instruction are instructions before it, arguments and sums exist,
/// no two specs are equal.
inline void check_code(const passes& p) {
    for (int i = 0; i < p.e.n_launches; ++i) {
        const launch& l = p.e.launches[i];
        BOOST_TEST(l.spec < p.e.n_specs);
        const spec& s = p.e.specs[l.spec];
        BOOST_TEST(s.instructions <= most_instructions);
        for (int k = 0; k < s.instructions; ++k) {
            const instruction w = instruction::unpack(p.e.code[s.code + k]);
            const bool loads = w.is(opcode::load), literal = w.is(opcode::literal);
            if (loads || w.is(opcode::store) || w.is(opcode::column_sum)) {
                BOOST_TEST(w.arg < l.args);
                BOOST_TEST((p.e.args[l.first_arg + w.arg].where() != space::none));
            }
            if (!loads && !literal && !w.is(opcode::reload) && !w.is(opcode::accumulator) && k > 0)
                BOOST_TEST(w.a < k);
        }
    }
    for (int i = 0; i < p.e.n_specs; ++i)
        for (int k = 0; k < i; ++k) {
            const spec &a = p.e.specs[i], &b = p.e.specs[k];
            bool same = a.kind == b.kind && a.instructions == b.instructions &&
                std::equal(a.extents, a.extents + 12, b.extents);
            for (int w = 0; same && w < a.instructions; ++w) same = p.e.code[a.code + w] == p.e.code[b.code + w];
            BOOST_TEST(!same, "specs " << i << " and " << k << " are equal");
        }
}

} // namespace sinter::test
