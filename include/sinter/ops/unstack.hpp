// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/split.hpp>
#include <sinter/ops/squeeze.hpp>

/// unstack<N>(x, axis): the N elements of an axis (without the batch), each without it. Of the
/// first axis of a tensor without a batch, and of every other, one copy each. PyTorch's unbind.
/// ONNX: Split, then Squeeze.
namespace sinter::inline SINTER_TARGET {

namespace ops {

template <std::size_t N>
constexpr std::array<tensor, N> unstack(tensor x, int axis = 0) {
    std::array<tensor, N> r = split<N>(x, axis);
    if (r[0].ok() && r[0].shape().d[axis_of(r[0].shape(), axis)] != 1)
        r[0] = fail(x.g, fault_kind::axis_out_of_range, op::slice, x.shape(), extents(N));
    for (tensor& t : r) t = squeeze(t, {axis});
    return r;
}

} // namespace ops
using ops::unstack;

} // namespace sinter
