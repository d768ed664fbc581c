// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/strides.hpp>
#include <sinter/ops/reshape.hpp>

/// squeeze(x, {axes}): without these axes (not the batch), each of which must have one element;
/// squeeze(x): without all such. Costs nothing. ONNX: Squeeze.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor squeeze(tensor x, std::initializer_list<int> axes) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    bool gone[max_rank] = {};
    for (int a : axes) {
        const int axis = axis_of(s, a);
        if (axis < 0 || s.d[axis] != 1) return fail(x.g, fault_kind::axis_out_of_range, op::reshape, s, s);
        gone[axis] = true;
    }
    shape out = s.plain();
    for (int i = s.rank - 1; i >= 0; --i)
        if (gone[i]) out = without_axis(out, i);
    return reshape(x, out);
}
constexpr tensor squeeze(tensor x) {
    if (!x.ok()) return x;
    shape out = x.shape().plain();
    for (int i = out.rank - 1; i >= 0; --i)
        if (out.d[i] == 1) out = without_axis(out, i);
    return reshape(x, out);
}

} // namespace ops
using ops::squeeze;

} // namespace sinter
