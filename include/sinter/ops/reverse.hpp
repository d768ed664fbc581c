// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/slice.hpp>

/// reverse(x, {axes}): the order of the elements along these axes (without the batch) turned round,
/// in one copy. NumPy's and PyTorch's flip. ONNX: Slice with steps of -1.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor reverse(tensor x, std::initializer_list<int> axes) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    box b(s);
    for (int a : axes) {
        const int axis = axis_of(s, a);
        if (axis < 0) return fail(x.g, fault_kind::axis_out_of_range, op::slice, s, s);
        b.first[axis] = s.d[axis] - 1;
        b.step[axis] = -1;
    }
    return slice(x, b);
}

} // namespace ops
using ops::reverse;

} // namespace sinter
