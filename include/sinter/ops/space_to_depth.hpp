// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/permute.hpp>

/// space_to_depth(x, b): images [H, W, C] -> [H/b, W/b, b b C], each block of b x b pixels one
/// pixel, its rows one after the other (TensorFlow's order for NHWC). One copy. ONNX: SpaceToDepth,
/// but for NCHW.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor space_to_depth(tensor x, int b) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    if (s.rank != 3 || b < 1 || s.d[0] % b || s.d[1] % b)
        return fail(x.g, fault_kind::needs_height_width_channels, op::permute, s, batch_of(b, b, 1));
    x = permute(reshape(x, extents(s.d[0] / b, b, s.d[1] / b, b, s.d[2])), {0, 2, 1, 3, 4});
    return reshape(x, extents(s.d[0] / b, s.d[1] / b, b * b * s.d[2]));
}

} // namespace ops
using ops::space_to_depth;

} // namespace sinter
