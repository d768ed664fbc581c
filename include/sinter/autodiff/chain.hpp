// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/rules.hpp>
#include <sinter/ops/mul.hpp>

/// Elementwise functions of one tensor that a net writes as several ops, as gelu_tanh or silu:
/// reverse mode op by op would keep most of what they compute on the way. As the derivative is
/// elementwise too, it can be finished by the forward kernel, and is then the only thing that is
/// kept.
namespace sinter::inline SINTER_TARGET::detail {

/// The nodes between a value and the one tensor that it is a function of.
struct chain {
    static constexpr int most = 32;
    int from = -1;         ///< that tensor; -1: there is no chain, or a plain gradient keeps no more
    int n = 0;
    int inside[most] = {}; ///< falling
};

/// What a chain must know of the graph's nodes [0, end).
class chain_finder {
public:
    /// `wanted`: nodes that gradients must reach. `region`: the checkpointed block that a node
    /// belongs to; no chain leaves one. `asked`: whose gradients are asked for; they lie within no
    /// chain.
    constexpr chain_finder(const graph& g, int end, const growing<bool>& wanted, const growing<int>& region,
                           const growing<int>& asked)
        : g_(g), wanted_(wanted), region_(region), users_(end, 0) {
        for (int i = 0; i < end; ++i)
            for (int k = 0; k < g.n.p[i].operands; ++k) ++users_.p[g.n.p[i].in[k]];
        for (int i = 0; i < asked.n; ++i)
            if (asked[i] < end) users_.p[asked[i]] += chain::most;
    }

    /// The longest chain to `last` in which some op reads two values on the way: only there does a
    /// plain gradient keep several.
    constexpr chain to(int last) const {
        chain c;
        int open[chain::most] = {}, inner_users[chain::most] = {}, opened = 0,
            found = 0;   // falling; all read by nodes inside
        const auto reads = [&](int v) {
            int at = 0;
            while (at < opened && open[at] > v) ++at;
            if (at < opened && open[at] == v) return void(++inner_users[at]);
            for (int k = opened++; k > at; --k) open[k] = open[k - 1], inner_users[k] = inner_users[k - 1];
            open[at] = v;
            inner_users[at] = 1;
        };
        bool branches = false;
        for (int v = last, users = users_.p[last];;) {
            if (!may_lie_inside(v, last) || users != users_.p[v] || c.n == chain::most ||
                opened + max_operands > chain::most)
                break;
            c.inside[c.n++] = v;
            int first = -1;
            for (int k = 0; k < g_.n.p[v].operands; ++k) {
                const int u = g_.n.p[v].in[k];
                if (!wanted_.p[u]) continue;
                branches = branches || (first >= 0 && first != u);
                first = u;
                reads(u);
            }
            if (opened == 1 && branches && same_space(open[0], last)) c.from = open[0], found = c.n;
            v = open[0], users = inner_users[0];
            for (int k = 1; k < opened; ++k) open[k - 1] = open[k], inner_users[k - 1] = inner_users[k];
            --opened;
        }
        c.n = found;
        return c;
    }

private:
    const graph& g_;
    const growing<bool>& wanted_;
    const growing<int>& region_;
    growing<int> users_;

    constexpr bool same_space(int a, int b) const {
        return g_.n.p[a].s == g_.n.p[b].s && g_.n.p[a].loop == g_.n.p[b].loop;
    }
    constexpr bool may_lie_inside(int v, int last) const {
        return g_.n.p[v].about->kind == op_kind::elementwise && same_space(v, last) && region_.p[v] == region_.p[last];
    }
};

/// What a node multiplies by `one`, or the node.
constexpr int without_factor(const graph& g, int v, int one) {
    while (g.n.p[v].k == op::mul) {
        const node& m = g.n.p[v];
        if (m.in[0] != one && m.in[1] != one) break;
        v = m.in[0] == one ? m.in[1] : m.in[0];
    }
    return v;
}
/// Multiplications by `one` are left out of the nodes from `begin` on.
constexpr void leave_out_factor(graph& g, int begin, int one) {
    for (int i = begin; i < g.n.n; ++i)
        for (int k = 0; k < g.n.p[i].operands; ++k) g.n.p[i].in[k] = without_factor(g, g.n.p[i].in[k], one);
}

} // namespace sinter::detail
