// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/program.hpp>

/// What a program costs: operations and bytes, of each kernel and in all, for one example and for
/// what does not depend on the batch. Bytes are those of operands and results, each counted once a
/// kernel: what caches cannot save.
namespace sinter::inline SINTER_TARGET::compiler {

/// A number that grows with the batch.
struct batch_count {
    std::int64_t per_example = 0, once = 0;
    constexpr std::int64_t at(std::int64_t batch) const { return per_example * batch + once; }
    constexpr void add(const batch_count& o) { per_example += o.per_example, once += o.once; }
};

struct group_cost {
    batch_count flops, read, written, saved;   ///< saved: bytes that separate kernels would have moved besides
    constexpr void add(const group_cost& o) {
        flops.add(o.flops), read.add(o.read), written.add(o.written), saved.add(o.saved);
    }
};

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::detail {

constexpr batch_count count_of(const node& n, std::int64_t amount) {
    return n.s.batched ? batch_count{amount, 0} : batch_count{0, amount};
}
constexpr std::int64_t bytes_of(const node& n) { return n.s.type == dtype::u8 ? n.s.size() : 4LL * n.s.size(); }

constexpr batch_count flops_of(const graph_view& g, const node& n) {
    node operands[max_operands];
    bool batched = n.s.batched;
    for (int k = 0; k < n.operands; ++k) {
        operands[k] = g.n[n.in[k]];
        batched = batched || operands[k].s.batched;
    }
    const long f = n.about->flops(n, operands);
    return batched ? batch_count{f, 0} : batch_count{0, f};
}

/// Bytes that a group reads from outside: each value once.
constexpr void count_reads(const graph_view& g, const grouping& r, int group, int v, growing<int>& seen,
                           group_cost& c) {
    const node& n = g.n[v];
    for (int k = 0; k < n.operands; ++k) {
        const int u = base_of(g.n, n.in[k]);
        if (g.n[u].k == op::constant || r.of[u] == group || seen[u] == group + 1) continue;
        seen[u] = group + 1;
        if (computed_again(r, u, group)) count_reads(g, r, group, u, seen, c);
        else c.read.add(count_of(g.n[u], bytes_of(g.n[u])));
    }
}

} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

/// The cost of one group. `updated`: the parameter whose update is part of it, or -1; `slots`: its
/// optimizer's memory.
constexpr group_cost cost_of_group(const graph_view& g, const grouping& r, int group, growing<int>& seen, int updated,
                                   int slots) {
    group_cost c;
    for (int v = r.g[group].head; v >= 0; v = r.next[v]) {
        const node& n = g.n[v];
        c.flops.add(detail::flops_of(g, n));
        detail::count_reads(g, r, group, v, seen, c);
        const bool gradient = updated >= 0 && base_of(g.n, g.gradients[updated]) == v;
        if (r.stored[v] && !gradient) c.written.add(detail::count_of(n, detail::bytes_of(n)));
        else c.saved.add(detail::count_of(n, 2 * detail::bytes_of(n)));   // written once, read back at least once
    }
    if (updated >= 0) {
        const std::int64_t p = detail::bytes_of(g.n[g.parameters[updated].id]) * (1 + slots);
        c.read.once += p;
        c.written.once += p;
    }
    return c;
}

/// All groups together, and the sweep over parameters that no kernel updates by the way.
struct program_cost {
    group_cost total;
    int launches = 0, kernels = 0, fused_away = 0;   ///< fused_away: operations that have no kernel of their own
};

template <class P>
constexpr program_cost cost_of() {
    using R = typename P::request;
    constexpr graph_view g = P::graph;
    const grouping r = detail::fused_stage<R>::groups();
    program_cost t;
    growing<int> seen(g.n.n, 0);
    int members = 0;
    for (int i = 0; i < r.g.n; ++i) {
        if (r.g[i].root < 0) continue;
        members += r.g[i].members;
        int updated = -1;
        for (int k = 0; k < g.gradients.n; ++k)
            if (detail::choice_stage<R>::v.updated[k] && r.of[base_of(g.n, g.gradients[k])] == i) updated = k;
        const group_cost c = cost_of_group(g, r, i, seen, updated, P::v.slots);
        t.total.add(c);
    }
    for (int k = 0; k < g.gradients.n; ++k)
        if (!detail::choice_stage<R>::v.updated[k] && g.gradients[k] >= 0) {
            const std::int64_t p = detail::bytes_of(g.n[g.parameters[k].id]);
            t.total.read.once += p * (2 + P::v.slots);
            t.total.written.once += p * (1 + P::v.slots);
        }
    for (int v = 0; v < g.n.n; ++v) members += r.of[v] == rematerialized;
    t.launches = P::v.n_launches;
    t.kernels = P::v.n_specs;
    t.fused_away = members - t.launches;
    return t;
}

} // namespace sinter::compiler
