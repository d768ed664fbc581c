// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/grouping.hpp>

/// The last decision on what is stored. A value that one kernel computes and others read is not
/// stored where the readers can compute it again without reading more: it is one operation on
/// arrays that they read anyway, or on one that they read in its place, and on numbers of rows or
/// columns. x - mean in a normalisation is such a value. This spares writing it, and keeps nothing
/// longer but that one array.
namespace sinter::inline SINTER_TARGET::compiler {

class recomputer {
public:
    constexpr recomputer(const graph_view& g, grouping& r)
        : g_(g), r_(r), n_(g.n.p), base_(find_bases(g.n, bases_)) {}

    constexpr void run() {
        for (int v = 0; v < g_.n.n; ++v)
            if (r_.of[v] >= 0 && r_.stored[v] && is_cheap(n_[v]) && has_operands(n_[v])) found_.push(v);
        if (!found_.n) return;
        stays_.allocate(g_.n.n);
        first_.allocate(g_.n.n);
        for (int v = 0; v < g_.n.n; ++v) stays_.p[v] = true, first_.p[v] = -1;
        for (int v : found_.all()) stays_.p[v] = false;
        find_readers();
        for (int v : found_.all())
            if (!stays_.p[v]) consider(v);
    }

private:
    const graph_view& g_;
    grouping& r_;
    const node* const n_;   // clang counts the call of an operator [] as two steps: plain arrays cost none
    growing<int> bases_;
    const int* const base_;       ///< the node whose memory each shows
    growing<int> found_;          ///< what might be computed again
    growing<bool> stays_;         ///< not found, wanted when the step is over, or not read element by element
    growing<int> first_, chain_, reader_;   ///< readers of each node, as lists

    static constexpr bool is_cheap(const node& n) {
        return n.about->kind == op_kind::elementwise && !n.loop && n.s.batched && n.s.last() != 1 &&
               n.about->flops(n, nullptr) <= n.s.size();
    }
    constexpr void find_readers() {
        for_each_root(g_, [&](int v) {
            if (v >= 0) stays_[base_[v]] = true;
        });
        for (int v = 0; v < g_.n.n; ++v) {
            const node& n = n_[v];
            if (!r_.live[v] || is_leaf(n)) continue;
            for (int k = 0; k < n.operands; ++k) {
                const int seen = n.in[k], u = base_[seen];
                if (stays_.p[u]) continue;
                if (is_view(n)) {
                    if (n.loop != n_[u].loop) stays_[u] = true;   // by slices
                    continue;
                }
                const op_kind kind = n.about->kind;
                if (r_.of[v] < 0 || n.loop || kind == op_kind::root_op || kind == op_kind::get_output ||
                    !same_space(n_[seen].s, n_[u].s) || (kind == op_kind::elementwise && !same_space(n_[seen].s, n.s)))
                    stays_[u] = true;
                else if (r_.of[v] != r_.of[u]) {
                    chain_.push(first_[u]);
                    first_[u] = reader_.push(v);
                }
            }
        }
    }
    /// Do all operands lie in memory, or were they given and at hand?
    constexpr bool has_operands(const node& n) const {
        for (int k = 0; k < n.operands; ++k) {
            const int u = base_[n.in[k]];
            const node& o = n_[u];
            if (o.loop || !(o.k == op::constant || o.k == op::input || (r_.of[u] >= 0 && r_.stored[u]))) return false;
        }
        return true;
    }
    constexpr void consider(int v) {
        const node& n = n_[v];
        int instead = -1;
        for (int e = first_[v]; e >= 0; e = chain_[e])
            if (!spares(v, r_.of[reader_[e]], instead)) return;
        r_.stored[v] = false;
        for (int e = first_[v]; e >= 0; e = chain_[e]) r_.g[r_.of[reader_[e]]].code += instructions_of(n);
    }
    static constexpr int instructions_of(const node& n) { return 1 + n.operands; }

    /// `instead`: the one array that is read in the value's place, by whichever groups.
    constexpr bool spares(int v, int group, int& instead) const {
        const node& n = n_[v];
        if (r_.g[group].code + instructions_of(n) > r_.most_code) return false;
        for (int k = 0; k < n.operands; ++k) {
            const int u = base_[n.in[k]];
            if (!same_space(n_[n.in[k]].s, n.s) || reads(group, u)) continue;
            if (instead >= 0 && instead != u) return false;
            instead = u;
        }
        return true;
    }
    /// Is u, which is in a group, computed again by its readers?
    constexpr bool left_to_readers(int u) const { return !r_.stored[u] && first_[u] >= 0; }
    constexpr bool reads(int group, int u) const {
        return sinter::compiler::reads(n_, base_, r_, group, u,
                             [&](int b) { return r_.of[b] >= 0 && r_.of[b] != group && left_to_readers(b); });
    }
};

constexpr void recompute(const graph_view& g, grouping& r) { recomputer(g, r).run(); }

} // namespace sinter::compiler
