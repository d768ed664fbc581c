// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/unique_rows.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/compiler/emit/update_set.hpp>
#include <sinter/compiler/passes/grouping.hpp>

/// Lazy updates of tables. A gradient that is row-sparse names the rows that occur in the batch:
/// its update changes those alone, weights and slots, and leaves all others as they are. It does so
/// wherever it runs: in the gradient's own kernel, which visits no other rows, or in a sweep after
/// the gradient was stored, which is a kernel of the same kind that sums nothing.
namespace sinter::inline SINTER_TARGET::compiler {

/// The node of the indices whose rows parameter i's gradient is made of, or -1 if that gradient is
/// not row-sparse.
constexpr int indices_of_gradient(const graph_view& g, int i) {
    if (g.gradients[i] < 0) return -1;
    const node& d = g.n[base_of(g.n, g.gradients[i])];
    if (d.loop) return -1;
    if (is(d, op_role::scatter_rows)) return d.in[0];
    return d.k == op::unique_table ? g.n[base_of(g.n, d.in[0])].in[1] : -1;
}

/// The most rows that parameter i's gradient has that are not zero.
constexpr int most_rows_of_gradient(const graph_view& g, int i, int max_batch) {
    const shape& indices = g.n[indices_of_gradient(g, i)].s;
    const std::int64_t rows = std::int64_t{indices.size()} * (indices.batched ? max_batch : 1),
                       all = g.n[g.parameters[i].id].s.d[0];
    return static_cast<int>(rows < all ? rows : all);
}
/// Which gradients are lists of rows, and how long at most (0: it is none): those of tables that
/// are updated lazily, so that whoever adds up several lists updates the rows of all of them.
/// `rows` has a place for each parameter.
constexpr void choose_row_lists(const graph_view& g, const grouping& r, const update_set& u, int max_batch, int* rows) {
    for (int i = 0; i < g.gradients.n; ++i) {
        rows[i] = 0;
        if (u.every > 1 || !u.lazy(g.parameters[i]) || indices_of_gradient(g, i) < 0) continue;
        const int d = base_of(g.n, g.gradients[i]);
        bool alone = r.of[d] >= 0 && r.g[r.of[d]].members == 1;   // nobody else reads it, here or elsewhere
        for (int v = 0; alone && v < g.n.n; ++v)
            for (int k = 0; k < g.n[v].operands; ++k)
                alone = alone && !(r.live[v] && base_of(g.n, g.n[v].in[k]) == d && !is_view(g.n[v]));
        if (alone) rows[i] = most_rows_of_gradient(g, i, max_batch);
    }
}

} // namespace sinter::compiler
