// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/slice.hpp>

/// The first half of an axis times the sigmoid of its second half (Dauphin et al. 2016): the axis
/// becomes half as long. Of an odd extent the halves differ, and their product says so. ONNX:
/// Split, Sigmoid, Mul.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor glu(tensor a, int axis = -1) {
    if (!a.ok()) return a;
    const int i = axis < 0 ? axis + a.shape().rank : axis;
    const int n = i >= 0 && i < a.shape().rank ? a.shape().d[i] : 0, half = n / 2;
    return slice(a, axis, 0, half) * sigmoid(slice(a, axis, half, n - half));
}

} // namespace sinter::ops
