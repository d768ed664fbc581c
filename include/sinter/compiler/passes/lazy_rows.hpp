// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/unique_rows.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/compiler/passes/grouping.hpp>

/// Lazy updates of tables. A gradient that is row-sparse names the rows that occur in the batch: its update changes those alone,
/// weights and slots, and leaves all others as they are. It does so wherever it runs: in the gradient's own kernel, which visits
/// no other rows, or in a sweep after the gradient was stored, which is a kernel of the same kind that sums nothing.
namespace sinter::inline SINTER_TARGET {

/// The node of the indices whose rows parameter i's gradient is made of, or -1 if that gradient is not row-sparse.
constexpr int indices_of_gradient(const graph_view& g, int i) {
    if (g.gradients[i] < 0) return -1;
    const node& d = g.n[base_of(g.n, g.gradients[i])];
    if (d.loop) return -1;
    if (d.k == op::scatter_rows) return d.in[0];
    return d.k == op::unique_table ? g.n[base_of(g.n, d.in[0])].in[1] : -1;
}

} // namespace sinter
