// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/matmul.hpp>

/// What the products of dense layers become where operands are rounded to bfloat16 and the machine
/// multiplies pairs of these (compiler/passes/round_products.hpp). A pair takes one float's place;
/// its first number is in the low half.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name bfloat16_weights{"bfloat16_weights"}, bfloat16_gemm{"bfloat16_gemm"},
    bfloat16_gemm_tn{"bfloat16_gemm_tn"};
}

namespace weight_pairs_extent { enum : int { rows, columns }; }   // of the weights, in call::e

/// Packed weights [K][N], rounded, as packed pairs [(K + 1) / 2][N] of rows 2 t and 2 t + 1; behind
/// an odd K there are zeros.
template <>
struct rule<op::bfloat16_weights> : root_op_rule {
    static constexpr const char* name = "bfloat16_weights";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{weight_pairs_extent::rows, r.x(0).d[0]}, {weight_pairs_extent::columns, r.x(0).d[1]}});
    }
};
/// y = a w: a float32, which the kernel rounds, w pairs.
template <>
struct rule<op::bfloat16_gemm> : root_op_rule {
    static constexpr const char* name = "bfloat16_gemm";
    static constexpr bool steps = true;
    static constexpr long flops(const node& n, const node* in) { return rule<op::gemm>::flops(n, in); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{gemm_extent::depth, r.x(0).last()}, {gemm_extent::columns, r.y().last()},
               {gemm_extent::row_step, r.x(0).last()}});
        k.by_example(r.y(), r.y().rows());
    }
};
/// w = a^T d, both float32, which the kernel rounds.
template <>
struct rule<op::bfloat16_gemm_tn> : rule<op::gemm_tn> {
    static constexpr const char* name = "bfloat16_gemm_tn";
    static constexpr bool product = false;   // rounds by itself
    static constexpr void gradient(gradient_of& g) { root_op_rule::gradient(g); }
};

} // namespace sinter
