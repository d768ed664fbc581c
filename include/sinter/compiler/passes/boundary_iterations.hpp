// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/grouping.hpp>

/// What a loop need not compute in its first and in its last iteration: products of a carry that
/// begins with zeros, and what is handed on to nobody, as the gradient of a state that was not
/// there before.
namespace sinter::inline SINTER_TARGET::compiler {

class boundary_iterations {
public:
    constexpr boundary_iterations(const graph_view& g, const grouping& r) : g_(g), r_(r) {
        if (g.loops.n) find_needed();
    }

    /// Does nobody read in the end what the group makes in its loop's last iteration? Where fewer
    /// iterations may be made than there is room for, the last one's values have readers: sums over
    /// all iterations, which multiply them by zeros.
    constexpr bool skipped_in_last_iteration(const group& q) const {
        if (!q.loop || g_.loops[q.loop - 1].condition >= 0 || g_.loops[q.loop - 1].count >= 0) return false;
        for (int v = q.head; v >= 0; v = r_.next[v])
            if (needed_[v]) return false;
        return true;
    }
    /// Is v, which a group of this loop reads, zero in the first iteration?
    constexpr bool begins_with_zeros(int v, int loop) const {
        v = shown_by(v);
        return loop && g_.n[v].k == op::loop_value && g_.n[v].loop == loop && begins_with_zeros(v);
    }
    /// v as all iterations' values of such a carry: which slice of them is zero, 1 the first, -1
    /// the last; else 0.
    constexpr int zero_slice(int v) const {
        v = shown_by(v);
        if (g_.n[v].k != op::loop_stack) return 0;
        v = shown_by(g_.n[v].in[0]);
        if (g_.n[v].k != op::loop_value || !begins_with_zeros(v)) return 0;
        return g_.loops[g_.n[v].loop - 1].backwards ? -1 : 1;
    }

private:
    const graph_view& g_;
    const grouping& r_;
    growing<bool> needed_;   ///< the nodes of loops whose value of the last iteration somebody reads

    constexpr int shown_by(int v) const {
        while (g_.n[v].k == op::reshape) v = g_.n[v].in[0];
        return v;
    }
    constexpr bool begins_with_zeros(int value) const {
        const loop_carry& c = g_.carries[g_.n[g_.n[value].in[0]].p[carry_attribute::number] - 1];
        int v = g_.n[c.store].in[0];
        while (g_.n[v].k == op::broadcast || g_.n[v].k == op::reshape) v = g_.n[v].in[0];
        return !c.sum && g_.n[v].k == op::constant && g_.n[v].f == 0.f;
    }
    constexpr void find_needed() {
        for (int v = 0; v < g_.n.n; ++v) needed_.push(false);
        for_each_result(g_, [&](int v) {
            if (v >= 0) needed_[v] = true;
        });
        for (int v = g_.n.n - 1; v >= 0; --v) {
            if (!r_.live[v]) continue;
            const node& n = g_.n[v];
            for (int k = 0; k < n.operands; ++k)
                if (const int u = n.in[k]; g_.n[u].loop && (n.loop != g_.n[u].loop || needed_[v])) needed_[u] = true;
        }
    }
};

} // namespace sinter::compiler
