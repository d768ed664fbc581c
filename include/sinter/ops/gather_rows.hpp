// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/heavy.hpp>

/// gather_rows(table [V, E], indices [...] int32) -> [..., E]: row indices[i] of the table. The table's gradient is
/// row-sparse, the pair (indices, rows): where nothing but the optimizer asks for it, only the rows that occur are
/// summed and updated (a lazy update); elsewhere it is spelled out. ONNX: Gather, axis 0.
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

constexpr tensor gather_rows(tensor table, tensor indices) {
    if (!table.ok() || !indices.ok()) return {table.g ? table.g : indices.g, -1};
    if (indices.shape().type != dtype::i32)
        return fail(table.g, fault_kind::wrong_element_type, op::gather_rows, indices.shape(), indices.shape());
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
