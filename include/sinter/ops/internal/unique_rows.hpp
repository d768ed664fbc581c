// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/matmul.hpp>

/// What compiler/passes/unique_rows.hpp makes of a product of looked-up rows with weights: each
/// unique row of a batch is multiplied once. A column's rows meet the same weights, so a *key* is
/// a row within a column. Nets do not name these ops, and nothing is differentiated through them:
/// the pass runs behind differentiation, in training programs for CPUs alone.
///
/// With C columns of rows of E floats, N columns of weights [C E + R, N], and R other numbers an
/// example:
///
///     unique_rows(table [V, E], indices [C])             the batch's keys, their rows, and which examples have them
///     unique_product(keys, weights[, numbers]) -> [N]    the layer's product
///     unique_sums(keys, d) -> [.. N]                     of each key the sum of its examples' gradients
///     unique_weights(keys, sums, d[, numbers])           the weights' gradient
///     unique_table(keys, sums, weights) -> [V, E]        the table's gradient
///
/// The attributes are the same throughout: C, E, the first of the weights' rows that belong to
/// columns, R, the first of the numbers'.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name unique_rows{"unique_rows"}, unique_product{"unique_product"}, unique_sums{"unique_sums"},
    unique_weights{"unique_weights"}, unique_table{"unique_table"};
}

namespace unique_attribute { enum : int { columns, width, first, numbers, numbers_first }; }   // in node::p
/// In call::e of all five kernels; all_rows: of the weights or of the table; lazy: only the rows
/// that occur are wanted.
namespace unique_extent {
enum : int { columns, width, outputs, numbers, first, numbers_first, all_rows, lazy, list_rows };
}
/// In call::p.
namespace unique_rows_operand { enum : int { table, indices, keys }; }
namespace unique_product_operand { enum : int { keys, weights, numbers }; }
namespace unique_sums_operand { enum : int { keys, d, sums }; }
namespace unique_weights_operand { enum : int { keys, sums, d, numbers }; }
namespace unique_table_operand { enum : int { keys, sums, weights, list_keys }; }

namespace detail {
constexpr void unique_extents(const kernel_request& r, kernel_extents& k, int outputs, std::int64_t all_rows = 0,
                              bool lazy = false) {
    const int* p = r.n.p;
    k.set({{unique_extent::columns, p[unique_attribute::columns]}, {unique_extent::width, p[unique_attribute::width]},
           {unique_extent::outputs, outputs}, {unique_extent::numbers, p[unique_attribute::numbers]},
           {unique_extent::first, p[unique_attribute::first]},
           {unique_extent::numbers_first, p[unique_attribute::numbers_first]},
           {unique_extent::all_rows, all_rows}, {unique_extent::lazy, lazy}});
    k.batched = true;   // c.m: examples
}
} // namespace detail

/// Floats (and integers of the same size) that an example adds to the keys: see
/// kernel/cpu/unique_rows/unique_keys.hpp.
constexpr int unique_floats(int columns, int width) { return columns * (width + 7) + 3; }

template <>
struct rule<op::unique_rows> : root_op_rule {
    static constexpr const char* name = "unique_rows";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::unique_extents(r, k, 0, r.x(0).d[0]);
    }
};
template <>
struct rule<op::unique_product> : root_op_rule {
    static constexpr const char* name = "unique_product";
    static constexpr long flops(const node& n, const node* in) { return 2L * n.s.size() * in[1].s.d[0]; }   // at most
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::unique_extents(r, k, r.y().last(), r.x(1).d[0]);
    }
};
template <>
struct rule<op::unique_sums> : root_op_rule {
    static constexpr const char* name = "unique_sums";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node*) { return n.s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::unique_extents(r, k, r.x(1).last());
    }
};
template <>
struct rule<op::unique_weights> : root_op_rule {
    static constexpr const char* name = "unique_weights";
    static constexpr bool sums_rows = true;
    static constexpr long flops(const node& n, const node*) { return 2L * n.s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::unique_extents(r, k, r.y().d[1], r.y().d[0]);
    }
};
template <>
struct rule<op::unique_table> : root_op_rule {
    static constexpr const char* name = "unique_table";
    static constexpr bool sums_rows = true;
    static constexpr long flops(const node& n, const node* in) { return 2L * in[1].s.size() * n.s.last(); }
    static constexpr void extents(const kernel_request& r,
                                  kernel_extents& k) {   // a lazy update visits only the rows that occur
        detail::unique_extents(r, k, r.x(2).d[1], r.y().d[0], r.updates || r.list_rows);
        k.e[unique_extent::list_rows] = r.list_rows;
    }
};

} // namespace sinter
