// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/matmul.hpp>

/// What compiler/passes/product_sums.hpp makes of sums of products. Nets do not name this op, and
/// nothing is differentiated through it: the pass runs behind differentiation, in training programs
/// for CPUs alone.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name product_sum{"product_sum"}; }

namespace product_sum_extent { enum : int { depth, columns, products }; }   // in call::e

/// y[m, N] = a[m, K] v[K, N] + b[m, K] w[K, N] + ..., two to four products, of operands {a, v, b,
/// w, ...} as gemm has them.
template <>
struct rule<op::product_sum> : root_op_rule {
    static constexpr const char* name = "product_sum";
    static constexpr bool product = true;
    static constexpr bool steps = true;
    static constexpr long flops(const node& n, const node* in) { return 1L * n.operands * n.s.size() * in[0].s.last(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{product_sum_extent::depth, r.x(0).last()}, {product_sum_extent::columns, r.y().last()},
               {product_sum_extent::products, r.n.operands / 2}});
        k.set_fixed({r.n.operands});   // behind these stand what the body reads and writes
        k.by_example(r.y(), r.y().rows());
    }
};

} // namespace sinter
