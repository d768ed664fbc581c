// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/reshape.hpp>

/// outer(a, b): [..., M] x [..., N] -> [..., M, N], the products of each element of a's last axis
/// with each of b's; the axes in front broadcast. ONNX: Einsum.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor outer(tensor a, tensor b) {
    if (!a.ok() || !b.ok()) return {a.g ? a.g : b.g, -1};
    shape x = a.shape().plain(), y = b.shape().plain();
    if (x.rank < 1 || y.rank < 1 || x.rank == max_rank || y.rank == max_rank)
        return fail(a.g, fault_kind::axis_out_of_range, op::mul, x, y);
    x.d[x.rank++] = 1;
    y.d[y.rank] = y.d[y.rank - 1];
    y.d[y.rank++ - 1] = 1;
    return reshape(a, x) * reshape(b, y);
}

} // namespace ops
using ops::outer;

} // namespace sinter
