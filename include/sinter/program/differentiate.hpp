// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/known.hpp>

/// Reverse mode over the graph value: appends the nodes of the gradients.
namespace sinter {

namespace detail {

/// Which nodes a gradient must reach: those that a parameter (or whatever is in `wanted` already) leads to.
constexpr void mark_wanted(const graph& g, int end, growing<bool>& wanted) {
    for (int i = 0; i < end; ++i) {
        const node& n = g.n[i];
        if (n.k == op::stop_gradient) continue;
        for (int k = 0; k < n.operands; ++k) wanted[i] = wanted[i] || wanted[n.in[k]];
    }
}

/// Recomputation of a checkpointed block [first, last]: its nodes again, under an epoch of their own so that they are
/// not taken for the first ones. What the block read from outside is read again; its results alone were kept.
constexpr void recompute(graph& g, int first, int last, int epoch, growing<int>& stand_in) {
    g.epoch = epoch;
    for (int i = first; i <= last; ++i) {
        node n = g.n[i];
        const op_kind kind = n.about->kind;
        if (kind == op_kind::leaf) continue;
        for (int k = 0; k < n.operands; ++k) n.in[k] = stand_in[n.in[k]];
        g.scope = n.scope;
        stand_in[i] = g.push(n);
    }
    g.epoch = 0;
}

/// What a block computed last was kept, so its gradient's rules read that: most often the last layer need not be done again.
constexpr void read_kept_results(graph& g, int first_new, const growing<int>& stand_in) {
    growing<int> kept(g.n.n, -1);
    for (int r = 0; 2 * r < g.regions.n; ++r)
        if (const int last = g.regions[2 * r + 1]; stand_in[last] != last) kept[stand_in[last]] = last;
    for (int i = first_new; i < g.n.n; ++i)
        for (int k = 0; k < g.n[i].operands; ++k)
            if (int& in = g.n[i].in[k]; kept[in] >= 0) in = kept[in];
}

} // namespace detail

/// Appends d root / d node for every node that `of` names (parameters) and that root depends on; returns in
/// `gradients` the node of each or -1. `root` must be a scalar.
constexpr void differentiate(graph& g, int root, const growing<int>& of, growing<int>& gradients) {
    const int end = root + 1;
    growing<int> sums(end, -1), stand_in(end, -1), region(end, -1);
    growing<bool> wanted(end, false);
    for (int i = 0; i < of.n; ++i) wanted[of[i]] = true;
    detail::mark_wanted(g, end, wanted);
    for (int i = 0; i < end; ++i) stand_in[i] = i;
    const int regions = g.regions.n / 2;
    for (int r = 0; r < regions; ++r)
        for (int i = g.regions[2 * r]; i <= g.regions[2 * r + 1]; ++i)
            if (region[i] < 0) region[i] = r;
    growing<bool> again(regions, false);
    growing<int> local;   // as `sums` and `wanted`, for recomputed nodes; used by one rule at a time
    growing<bool> local_wanted;

    if (wanted[root]) sums[root] = constant(&g, 1.f).id;
    for (int i = root; i >= 0; --i) {
        if (sums[i] < 0 || !wanted[i] || is_leaf(g.n[i])) continue;
        if (const int r = region[i]; r >= 0 && !again[r]) {
            again[r] = true;
            detail::recompute(g, g.regions[2 * r], g.regions[2 * r + 1], r + 1, stand_in);
        }
        g.scope = g.n[i].scope;
        if (region[i] < 0 || stand_in[i] == i) {
            gradient_of rule{&g, sums, wanted, i, {&g, sums[i]}};
            g.n[i].about->gradient(rule);
        } else {   // the rule looks at the recomputed node; what it adds belongs to the original's operands
            const node original = g.n[i];
            const int k = stand_in[i];
            while (local.n < g.n.n) local.push(-1), local_wanted.push(false);
            for (int o = 0; o < original.operands; ++o) local_wanted[g.n[k].in[o]] = wanted[original.in[o]];
            gradient_of rule{&g, local, local_wanted, k, {&g, sums[i]}};
            original.about->gradient(rule);
            for (int o = 0; o < original.operands; ++o) {
                int& from = local[g.n[k].in[o]];
                int& to = sums[original.in[o]];
                if (from >= 0) to = to < 0 ? from : (tensor{&g, to} + tensor{&g, from}).id;
                from = -1;   // an operand that stands in twice is counted once
            }
            for (int o = 0; o < original.operands; ++o) local_wanted[g.n[k].in[o]] = false;
        }
    }
    g.scope = 0;
    if (regions) detail::read_kept_results(g, end, stand_in);
    for (int i = 0; i < of.n; ++i) gradients.push(sums[of[i]]);
}

} // namespace sinter
