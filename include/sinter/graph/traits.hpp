// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/op.hpp>

/// The traits of ops: all that passes, backends and exporters may know of an op. Each op's rule
/// states its own (rules.hpp has bases with the usual values), and describe_op() reads them off;
/// what a rule does not state has its default.
namespace sinter::inline SINTER_TARGET {

namespace compiler { struct node; }

/// What the passes may do with an op.
enum class op_kind : std::uint8_t {
    leaf,          ///< a value that is there before the program runs
    elementwise,   ///< each output element from the operands' elements at the same place
    row_reduce,    ///< one value a row
    col_reduce,    ///< one value a column, over all rows of all examples
    root_op,       ///< a kernel of its own, which may take elementwise work into its epilogue
    view,          ///< the same memory under another shape
    get_output     ///< a further result of its operand
};

/// What passes recognise an op by where more than its kind matters: a pass asks for a role and
/// never for a name, so an op of yours that takes a role is treated as ours are. The comments say
/// what an op promises that takes the role.
enum class op_role : std::uint8_t {
    none,
    sum,                 ///< a + b, of equal extents or a bias
    product,             ///< x[rows, K] by packed weights [K, N], or by their transpose where p[0] is 1
    weights_gradient,    ///< x^T d over all rows, packed [K, N]; where p[0] is 1 its second result is the sum of d's
                         ///< rows
    weights_transpose,   ///< packed weights, transposed
    convolution,         ///< of images, one stride for both axes; its kernel may pool its results
    convolution_input_gradient,
    convolution_weights_gradient,
    convolution_weights_transpose,
    max_pool,            ///< of images; its second result says which element of a window won
    max_pool_gradient,   ///< (d, winners)
    column_sum,
    row_sum,
    gather_rows,    ///< (table, indices)
    scatter_rows,   ///< (indices, rows): rows of a table, summed where indices are equal
    concat,
    slice,
    rounding   ///< to bfloat16
};

struct gradient_of;
struct kernel_extents;
struct kernel_request;

namespace detail {
// And no null pointers, which g++'s sanitizers do not compare in constants.
constexpr bool never(const node&) { return false; }
constexpr int not_known(const node&) { return 0; }
}

/// An op's description, as the passes read it.
struct op_info {
    op_name self;
    const char* onnx;   ///< the ONNX operator that it equals, operand by operand and without attributes; or nullptr
    op_kind kind;
    bool monotone;           ///< non-decreasing, NaN for NaN alone: max(f(a), f(b)) = f(max(a, b))
    bool epilogue;           ///< a root op whose kernel hands each result to elementwise code before it is stored
    bool keeps_padding;   ///< gives 0 for zeros, value and gradient, so that it may work on packed weights as they lie
    bool scales;             ///< of two operands, where one is a factor for all of the other
    bool identity;           ///< of one operand: the result is the operand, element by element
    bool varies_by_iteration;   ///< another value in each iteration of a loop, though it has no operand from there
    bool steps;              ///< a root op or view that works on operands [T][batch][...] as they lie
    bool sums_rows;          ///< a root op that itself sums over rows, so that no further sum rides on its kernel
    bool moves;              ///< its result's elements are some of its operands', unchanged
    void (*gradient)(gradient_of&);
    long (*flops)(const compiler::node&, const compiler::node* operands);
    void (*extents)(const kernel_request&, kernel_extents&);   ///< root ops: what their kernel is told
    op_role role = op_role::none;
    bool product = false;   ///< multiplies its first two operands and adds up: a policy may say with what precision
    bool further_results = false;   ///< gradient() takes those of its further results (get_output), too
    bool (*follows_rows)(const compiler::node&) =
        detail::never;   ///< a root op's kernel runs a walk over its first operand's rows as it reads them
    int (*below)(const compiler::node&) =
        detail::not_known;   ///< integers that it makes are at least 0 and below this, by construction
};

template <op_id K>
struct rule;   ///< specialised by each op's file

namespace detail {
template <op_id K>
constexpr op_info describe_op() {
    using r = rule<K>;
    static_assert(op_name(r::name) == K, "rule<op::x>::name must be the name that op::x was made from");
    op_info i{op_name(r::name), nullptr, r::kind, r::monotone, false, false, false, false, false, false, false, false,
              &r::gradient, &r::flops, nullptr};
    if constexpr (requires { r::onnx; }) i.onnx = r::onnx;
    if constexpr (requires { r::keeps_padding; }) i.keeps_padding = r::keeps_padding;
    if constexpr (requires { r::scales; }) i.scales = r::scales;
    if constexpr (requires { r::identity; }) i.identity = r::identity;
    if constexpr (requires { r::varies_by_iteration; }) i.varies_by_iteration = r::varies_by_iteration;
    if constexpr (requires { r::steps; }) i.steps = r::steps;
    if constexpr (requires { r::sums_rows; }) i.sums_rows = r::sums_rows;
    if constexpr (requires { r::moves; }) i.moves = r::moves;
    if constexpr (requires { r::role; }) i.role = r::role;
    if constexpr (requires { r::product; }) i.product = r::product;
    if constexpr (requires { r::extents; }) i.extents = &r::extents;
    if constexpr (requires { r::further_results; }) i.further_results = r::further_results;
    if constexpr (requires { r::follows_rows; }) i.follows_rows = &r::follows_rows;
    if constexpr (requires { r::below; }) i.below = &r::below;
    if constexpr (r::kind == op_kind::root_op) i.epilogue = r::epilogue;
    return i;
}
} // namespace detail

template <op_id K>
inline constexpr op_info info_of = detail::describe_op<K>();

} // namespace sinter
