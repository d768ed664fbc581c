// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/rules.hpp>

/// Positions of attention's attributes, extents and operands: ops/attention.hpp writes them, its
/// gradients and kernels read them.
namespace sinter::inline SINTER_TARGET {

/// In node::p. groups: heads of keys; key j is seen by query i if j <= i + shift; measured, biased:
/// are there lengths, a bias; stream of dropout's random numbers, and the bits of its rate; packed: the
/// fourth operand is no lengths, but the rows' segments.
namespace attention_attribute { enum : int { heads, groups, shift, measured, biased, stream, dropout, packed }; }
namespace attention_fixed { enum : int { packed }; }   // in spec::extents
/// What the fourth operand says.
namespace attention_limit { enum : int { none, lengths, segments }; }
/// In call::e. scale: a float's bits; limit: what the fourth operand says; steps from one example,
/// head and query of the bias to the next; dropout: stream and rate.
namespace attention_extent {
enum position : int {
    queries, keys, heads, groups, width, value_width, scale, shift, limit, biased,
    bias_example = kernel_extents::spare, bias_head, bias_query, dropout
};
}
/// In call::p. lengths: or segments; kept: the largest scores and sums, or null.
namespace attention_operand { enum : int { q, k, v, lengths, bias, kept, result }; }
/// In call::p of both gradients, of which the one has dk, dv and dq, each of which may be null, the
/// other dbias.
namespace attention_gradient_operand { enum : int { q, k, v, lengths, bias, y, kept, d, dk, dbias = dk, dv, dq }; }

} // namespace sinter
