// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/grouping.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// The groups' order when there are loops: those of one loop stand together, so that they are a
/// stretch of the launches. Groups of no loop that fusion left between them are made before: they
/// cannot depend on it, for a loop's results are seen only through nodes made after its last one.
namespace sinter::inline SINTER_TARGET::compiler {

constexpr void keep_loops_together(const graph_view& g, grouping& r) {
    if (!g.loops.n) return;
    growing<int> last(g.loops.n + 1, -1), order;   // of each loop its last group; new place -> old group
    for (int i = 0; i < r.g.n; ++i)
        if (r.g[i].root >= 0) last[r.g[i].loop] = i;
    growing<int> held;
    for (int i = 0; i < r.g.n; ++i) {
        const int l = r.g[i].root >= 0 ? r.g[i].loop : 0;
        if (!l) {
            order.push(i);
            continue;
        }
        held.push(i);
        if (i != last[l]) continue;
        int kept = 0;
        for (int k = 0; k < held.n; ++k) {   // its own; another loop's groups wait on
            if (r.g[held[k]].loop == l) order.push(held[k]);
            else held[kept++] = held[k];
        }
        held.n = kept;
    }
    reorder_groups(r, g.n.n, order);
}

/// The first and last group of each loop, by its number.
struct loop_span {
    int first = -1, last = -1;
};
constexpr void find_spans(const graph_view& g, const grouping& r, growing<loop_span>& span) {
    for (int i = 0; i <= g.loops.n; ++i) span.push({});
    for (int i = 0; i < r.g.n; ++i) {
        if (r.g[i].root < 0 || !r.g[i].loop) continue;
        loop_span& s = span[r.g[i].loop];
        if (s.first < 0) s.first = i;
        s.last = i;
    }
}

namespace pass {
struct loop_order {
    static constexpr bool enabled(const target&, const program_options&) { return true; }
    static constexpr void run(const graph_view& g, grouping& r, const pass_settings&) { keep_loops_together(g, r); }
};
} // namespace pass

} // namespace sinter::compiler
