// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/strides.hpp>
#include <sinter/ops/reshape.hpp>

/// expand_dims(x, axis): a new axis of one element, which becomes axis `axis` of the result (-1:
/// its last). Costs nothing. PyTorch's unsqueeze. ONNX: Unsqueeze.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor expand_dims(tensor x, int axis) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    if (axis < 0) axis += s.rank + 1;
    if (axis < 0 || axis > s.rank || s.rank == max_rank)
        return fail(x.g, fault_kind::axis_out_of_range, op::reshape, s, s);
    return reshape(x, with_new_axis(s.plain(), axis, 1));
}

} // namespace ops
using ops::expand_dims;

} // namespace sinter
