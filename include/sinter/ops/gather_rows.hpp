// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/heavy.hpp>

/// gather_rows(table [V, E], indices [...] int32) -> [..., E]: row indices[i] of the table. The table's gradient is
/// row-sparse, the pair (indices, rows): where nothing but the optimizer asks for it, only the rows that occur are
/// summed and updated (a lazy update); elsewhere it is spelled out. Indices must come from inputs, so that they are
/// checked when a batch is bound. ONNX: Gather, axis 0.
namespace sinter {

template <>
struct rule<op::gather_rows> : heavy_rule {
    static constexpr const char* name = "gather_rows";
    static constexpr void gradient(gradient_of& g) {
        g.add(0, make(g.g, op::scatter_rows, g.x(0).shape(), {g.x(1), g.d}));
    }
};
/// Operands: indices, rows. Row v of the result is the sum of the rows whose index is v.
template <>
struct rule<op::scatter_rows> : heavy_rule {
    static constexpr const char* name = "scatter_rows";
    static constexpr long flops(const node&, const node* in) { return in[1].s.size(); }
};

namespace ops {

/// Every input that these numbers were copied from must stay below `rows` (or what a smaller table asked for); kernels
/// need not check then. False: the numbers do not come from inputs alone.
constexpr bool bound_indices(graph& g, int id, int rows) {
    const node n = g.n[id];
    switch (n.k) {
        case op::input:
            if (int& below = g.n[id].p[1]; below == 0 || below > rows) below = rows;
            return true;
        case op::reshape: case op::stop_gradient: case op::slice: case op::permute: case op::expand: case op::concat:
            for (int i = 0; i < n.operands; ++i)
                if (!bound_indices(g, n.in[i], rows)) return false;
            return true;
        default: return false;
    }
}

constexpr tensor gather_rows(tensor table, tensor indices) {
    if (!table.ok() || !indices.ok()) return {table.g ? table.g : indices.g, -1};
    if (indices.shape().type != dtype::i32 || !bound_indices(*indices.g, indices.id, table.shape().d[0]))
        return fail(table.g, fault_kind::wrong_element_type, op::gather_rows, indices.shape(), indices.shape());
    if (not_floats(op::gather_rows, table)) return {table.g, -1};
    if (table.shape().rank != 2 || table.shape().batched || indices.shape().rank >= max_rank)
        return fail(table.g, fault_kind::axis_out_of_range, op::gather_rows, table.shape(), extents(table.shape().size(), 1));
    table = unpack(table);
    shape s = indices.shape();
    s.type = dtype::f32;
    s.d[s.rank++] = table.shape().last();
    return make(table.g, op::gather_rows, s, {table, indices});
}

} // namespace ops
using ops::gather_rows;

} // namespace sinter
