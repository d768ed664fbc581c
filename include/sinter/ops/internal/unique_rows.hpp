// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/matmul.hpp>

/// What compiler/passes/unique_rows.hpp makes of a product of looked-up rows with weights: each distinct row of a batch is multiplied
/// once. A column's rows meet the same weights, so a *key* is a row within a column. Nets do not name these ops, and
/// nothing is differentiated through them: the pass runs behind differentiation, in training programs for CPUs alone.
///
/// With C columns of rows of E floats, N columns of weights [C E + R, N], and R other numbers an example:
///
///     unique_rows(table [V, E], indices [C])             the batch's keys, their rows, and which examples have them
///     unique_product(keys, weights[, numbers]) -> [N]    the layer's product
///     unique_sums(keys, d) -> [.. N]                     of each key the sum of its examples' gradients
///     unique_weights(keys, sums, d[, numbers])           the weights' gradient
///     unique_table(keys, sums, weights) -> [V, E]        the table's gradient
///
/// p = {C, E, first of the weights' rows that belong to columns, R, first of the numbers'} throughout.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name unique_rows{"unique_rows"}, unique_product{"unique_product"}, unique_sums{"unique_sums"},
    unique_weights{"unique_weights"}, unique_table{"unique_table"};
}

namespace detail {
/// e, for all five kernels: C, E, N, R, the weights' first row of the columns and of the numbers, then what some add: all rows of
/// the weights or of the table, and whether only the rows that occur are wanted.
constexpr void unique_extents(const kernel_request& r, kernel_extents& k, int n, std::int64_t more = 0, std::int64_t last = 0) {
    const int* p = r.n.p;
    k.set({p[0], p[1], n, p[3], p[2], p[4], more, last});
    k.batched = true;   // c.m: examples
}
} // namespace detail

/// Floats (and whole numbers of the same size) that an example adds to the keys: see kernel/cpu/unique_rows/unique_keys.hpp.
constexpr int unique_floats(int columns, int width) { return columns * (width + 7) + 3; }

template <>
struct rule<op::unique_rows> : root_op_rule {
    static constexpr const char* name = "unique_rows";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::unique_extents(r, k, 0, r.x(0).d[0]); }
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
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::unique_extents(r, k, r.x(1).last()); }
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
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {   // a lazy update visits only the rows that occur
        detail::unique_extents(r, k, r.x(2).d[1], r.y().d[0], r.updates);
    }
};

} // namespace sinter
