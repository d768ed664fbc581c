// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

/// The list of ops. An op is one line here and one file beside this one, which specialises `rule<op::name>`.
namespace sinter {

enum class op : std::uint8_t {
    none,
    // leaves
    input, parameter, state, constant, optimizer_port,
    // elementwise: generators, one operand, two operands
    column_index, random_uniform, runtime_scalar,
    neg, exp, log, sqrt, tanh, sigmoid, erf, relu, over_batch, broadcast, to_float,
    add, sub, mul, div, maximum, minimum, equal, greater, relu_gradient,
    // reductions: over the last axis, over all rows, over axes in the middle
    row_sum, row_max, col_sum, middle_sum, middle_max,
    // work with a kernel of its own
    gemm, gemm_tn, matmul, weight_transpose, pack_weights, unpack_weights,
    conv, conv_input_gradient, conv_weight_gradient, conv_transpose,
    max_pool, max_pool_gradient, avg_pool, avg_pool_gradient,
    gather_rows, scatter_rows, permute, expand, concat, slice, insert,
    // structure
    reshape, stop_gradient, pick,
    count
};
inline constexpr int op_count = static_cast<int>(op::count);

/// What the passes may do with an op.
enum class op_kind : std::uint8_t {
    leaf,          ///< a value that is there before the program runs
    elementwise,   ///< each output element from the operands' elements at the same place
    row_reduce,    ///< one value a row
    col_reduce,    ///< one value a column, over all rows of all examples
    heavy,         ///< a kernel of its own, which may take elementwise work into its epilogue
    view,          ///< the same memory under another shape
    pick           ///< a further result of its operand
};

template <op K>
struct rule;   ///< specialised by each op's file

} // namespace sinter
