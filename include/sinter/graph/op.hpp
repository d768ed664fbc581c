// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

/// What an op is. There is no list of ops: each lives in a file of its own, which names it and says what it does,
///
///     namespace op { inline constexpr op_name softsign{"softsign"}; }
///     template <> struct rule<op::softsign> : elementwise_rule<1, 3> { ... };
///
/// and a node of the graph remembers where its op's description lies. So a program knows the ops that it is made of, and
/// yours are like ours.
namespace sinter::inline SINTER_TARGET {

/// An op's number within kernels' types, made from its name; those below 256 belong to the words' own instructions. Should
/// two names ever give one number, the second `rule` is an error.
enum class op_id : std::uint16_t {};

struct op_name {
    const char* name;
    op_id id;

    constexpr op_name(const char* text) : name(text), id{} {
        std::uint32_t h = 2166136261u;
        for (const char* c = text; *c; ++c) h = (h ^ static_cast<unsigned char>(*c)) * 16777619u;
        id = static_cast<op_id>(256u + (h ^ h >> 15) % 65280u);
    }
    constexpr operator op_id() const { return id; }
};

namespace op {
inline constexpr op_name none{"none"};
}

/// What the passes may do with an op.
enum class op_kind : std::uint8_t {
    leaf,          ///< a value that is there before the program runs
    elementwise,   ///< each output element from the operands' elements at the same place
    row_reduce,    ///< one value a row
    col_reduce,    ///< one value a column, over all rows of all examples
    root_op,         ///< a kernel of its own, which may take elementwise work into its epilogue
    view,          ///< the same memory under another shape
    get_output           ///< a further result of its operand
};

struct node;
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
    const char* onnx;        ///< the ONNX operator that it equals, operand by operand and without attributes; or nullptr
    op_kind kind;
    bool monotone;           ///< non-decreasing, NaN for NaN alone: max(f(a), f(b)) = f(max(a, b))
    bool epilogue;           ///< a heavy op whose kernel hands each result to elementwise code before it is stored
    bool keeps_padding;      ///< gives 0 for zeros, value and gradient, so that it may work on packed weights as they lie
    bool scales;             ///< of two operands, where one is a factor for all of the other
    bool identity;           ///< of one operand: the result is the operand, element by element
    bool by_turn;            ///< another value in each turn of a loop, though it has no operand from there
    bool steps;              ///< a heavy op or view that works on operands [T][batch][...] as they lie
    bool sums_rows;          ///< a heavy op that itself sums over rows, so that no further sum rides on its kernel
    bool moves;              ///< its result's elements are some of its operands', unchanged
    void (*gradient)(gradient_of&);
    long (*flops)(const node&, const node* operands);
    void (*extents)(const kernel_request&, kernel_extents&);   ///< heavy ops: what their kernel is told
    bool product = false;   ///< multiplies its first two operands and adds up: a policy may say with what precision
    bool further_results = false;   ///< gradient() takes those of its further results (pick), too
    bool (*follows_rows)(const node&) = detail::never;   ///< a heavy op's kernel runs a walk over its first operand's rows as it reads them
    int (*below)(const node&) = detail::not_known;   ///< whole numbers that it makes are at least 0 and below this, by construction
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
    if constexpr (requires { r::by_turn; }) i.by_turn = r::by_turn;
    if constexpr (requires { r::steps; }) i.steps = r::steps;
    if constexpr (requires { r::sums_rows; }) i.sums_rows = r::sums_rows;
    if constexpr (requires { r::moves; }) i.moves = r::moves;
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
