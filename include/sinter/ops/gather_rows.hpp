// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/indices.hpp>

/// gather_rows(table [V, E], indices [...] int32) -> [..., E]: row indices[i] of the table. The
/// table's gradient is row-sparse, the pair (indices, rows): only the rows that occur are updated
/// (a lazy update, compiler/passes/lazy_rows.hpp), and where nothing but the optimizer asks for it
/// only these are summed; elsewhere it is spelled out. Indices are known to be rows of the table:
/// see detail/indices.hpp. ONNX: Gather, axis 0.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name gather_rows{"gather_rows"}, scatter_rows{"scatter_rows"};
}

/// In node::p. 1: computed once more, for the optimizer alone.
namespace scatter_rows_attribute { enum : int { copy }; }
namespace gather_rows_extent { enum : int { width, rows }; }      // in call::e, of the table
namespace gather_rows_operand { enum : int { table, indices }; }  // in call::p
/// In call::e. Lazy: only the rows that occur are updated; body_reads: not the kernel but its body
/// has the sums.
namespace scatter_rows_extent { enum : int { width, rows, lazy, body_reads, list_rows }; }
/// What body_reads may be: nothing; sums of the rows that occur; sums of a round of steps, of the
/// rows that hold anything but -0; those of a list of rows, which the kernel hands on.
namespace scatter_rows_sums { enum : int { none, occurring, of_round, listed }; }
/// In call::p. Of a round, indices: the table's sums; listed, indices and rows: the list's keys and
/// rows. keys: where a list that is made (list_rows, its most rows; 0: none) has them.
namespace scatter_rows_operand { enum : int { indices, rows, keys }; }

template <>
struct rule<op::gather_rows> : root_op_rule {
    static constexpr op_role role = op_role::gather_rows;
    static constexpr const char* name = "gather_rows";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{gather_rows_extent::width, r.x(0).last()}, {gather_rows_extent::rows, r.x(0).d[0]}});
        k.by_example(r.y(), r.y().rows());
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: indices, rows. Row v of the result is the sum of the rows whose index is v.
template <>
struct rule<op::scatter_rows> : root_op_rule {
    static constexpr op_role role = op_role::scatter_rows;
    static constexpr const char* name = "scatter_rows";
    static constexpr bool steps = true;
    static constexpr bool sums_rows = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{scatter_rows_extent::width, r.y().last()}, {scatter_rows_extent::rows, r.y().d[0]},
               {scatter_rows_extent::lazy, r.updates || r.list_rows}, {scatter_rows_extent::list_rows, r.list_rows}});
        k.by_example(r.x(1), r.x(1).rows());
    }
    static constexpr long flops(const node&, const node* in) { return in[1].s.size(); }
    static constexpr void gradient(gradient_of& g) {
        g.add(1, make<op::gather_rows>(g.g, g.x(1).shape(), {ops::plain(g.d), g.x(0)}));
    }
};

namespace ops {

constexpr tensor gather_rows(tensor table, tensor indices) {
    if (!table.ok() || !indices.ok()) return {table.g ? table.g : indices.g, -1};
    if (!are_indices(op::gather_rows, indices, table.shape().d[0])) return {table.g, -1};
    if (not_floats(op::gather_rows, table)) return {table.g, -1};
    if (table.shape().rank != 2 || table.shape().batched || indices.shape().rank >= max_rank)
        return fail(table.g, fault_kind::axis_out_of_range, op::gather_rows, table.shape(),
                    extents(table.shape().size(), 1));
    table = unpack(table);
    shape s = indices.shape();
    s.type = dtype::f32;
    s.d[s.rank++] = table.shape().last();
    return make<op::gather_rows>(table.g, s, {table, indices});
}

} // namespace ops
using ops::gather_rows;

constexpr void rule<op::gather_rows>::gradient(gradient_of& g) {
    g.add(0, make<op::scatter_rows>(g.g, g.x(0).shape(), {g.x(1), g.d}));
}

} // namespace sinter
