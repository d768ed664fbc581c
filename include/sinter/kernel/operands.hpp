// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

/// Positions of operands and results in call::p, for families of several kernels. Where a kernel
/// stands alone, they are with its op.
namespace sinter::inline SINTER_TARGET::runtime {

/// One operand, and a result that the kernel stores itself.
namespace copy_operand { enum : int { from, to }; }

/// Products a b; in a sum of products the operands of the next follow.
namespace product_operand { enum : int { a, b, number }; }
/// Sums of a^T d over rows; the sum of d's rows is a second result.
namespace gemm_tn_operand { enum : int { a, d, sum_of_d }; }

/// Convolutions forward and, with the result's gradient as the source, backward; the winners are
/// those of a pool.
namespace conv_operand { enum : int { source, weights, winners }; }
/// The gradient of a convolution's weights; dy and the winners may be those of a pool behind it.
namespace conv_weight_gradient_operand { enum : int { x, dy, winners }; }

/// Pools of x or, backward, of the result's gradient; where they are a result, winners may be null.
namespace pool_operand { enum : int { from, winners }; }

} // namespace sinter::runtime
