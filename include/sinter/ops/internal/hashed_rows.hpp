// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hashed_options.hpp>
#include <sinter/ops/gather_rows.hpp>

/// hashed_rows(table, keys [..., 2] int32) -> [..., E]: the row of each 64-bit key, whose halves
/// lie side by side, the low one first. Servers keep the table, so it never runs:
/// compiler/passes/remote_tables.hpp makes a gather_rows of it. Where there are no servers it is a
/// fault.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name hashed_rows{"hashed_rows"}; }

template <>
struct rule<op::hashed_rows> : root_op_rule {
    static constexpr const char* name = "hashed_rows";
};

namespace detail {

/// `table`: a parameter that says how wide rows are.
constexpr tensor hashed_rows(tensor table, tensor keys, const hashed_options& o) {
    if (!table.ok() || !keys.ok()) return {table.g ? table.g : keys.g, -1};
    graph& g = *table.g;
    shape s = keys.shape();
    if (!g.has_servers) return fail(&g, fault_kind::hashed_table_without_servers, op::hashed_rows, s, table.shape());
    if (s.type != dtype::i32) return fail(&g, fault_kind::wrong_element_type, op::hashed_rows, s, s);
    if (s.rank < 1 || s.last() != 2) return fail(&g, fault_kind::sizes_differ, op::hashed_rows, s, with_last(s, 2));
    int* const p = g.n[table.id].p;   // whoever asks for the variable is told
    p[variable_attribute::remote_rows] = -1;
    p[variable_attribute::most_rows] = o.most_rows;
    p[variable_attribute::admit_after] = o.admit_after;
    p[variable_attribute::expire_after] = o.expire_after;
    p[variable_attribute::full] = static_cast<int>(o.full);
    s.type = dtype::f32;
    s.d[s.rank - 1] = table.shape().last();
    return make<op::hashed_rows>(&g, s, {table, keys});
}

} // namespace detail

} // namespace sinter
