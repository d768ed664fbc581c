// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/convolution.hpp>

/// conv3d(x, w, {stride, padding, dilation, groups}): x [D, H, W, CI], w [KD, KH, KW, CI / groups,
/// CO] -> [OD, OH, OW, CO]. ONNX: Conv, channels last after transposition.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor conv3d(tensor x, tensor w, window o = {}) {
    if (x.ok() && x.shape().rank != 4)
        return fail(x.g, fault_kind::needs_height_width_channels, op::convolution, x.shape(), batch_of(1, 1, 1, 1));
    return convolution(x, w, o);
}

} // namespace sinter::ops
