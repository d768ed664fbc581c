// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/sum.hpp>

/// dot(a, b): [..., K] x [..., K] -> [...], the inner products of the last axes; others broadcast.
/// ONNX: Einsum.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor dot(tensor a, tensor b) {
    if (!a.ok() || !b.ok()) return {a.g ? a.g : b.g, -1};
    const shape x = a.shape(), y = b.shape();
    if (x.rank < 1 || y.rank < 1 || x.last() != y.last())
        return fail(a.g, fault_kind::inner_extents_differ, op::mul, x, y);
    return sum(a * b, {-1});
}

} // namespace ops
using ops::dot;

} // namespace sinter
