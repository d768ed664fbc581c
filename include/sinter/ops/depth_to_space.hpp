// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/permute.hpp>

/// depth_to_space(x, b): [H, W, b b C] -> [H b, W b, C], space_to_depth's inverse: each pixel's
/// channels become a block of b x b pixels, row by row (TensorFlow's order for NHWC; ONNX calls it
/// DCR). One copy. ONNX: DepthToSpace, but for NCHW.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor depth_to_space(tensor x, int b) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    if (s.rank != 3 || b < 1 || b > 46340 || s.d[2] % (b * b))
        return fail(x.g, fault_kind::needs_height_width_channels, op::permute, s,
                    batch_of(1, 1, b > 0 && b <= 46340 ? b * b : b));
    const int c = s.d[2] / (b * b);
    x = permute(reshape(x, extents(s.d[0], s.d[1], b, b, c)), {0, 2, 1, 3, 4});
    return reshape(x, extents(s.d[0] * b, s.d[1] * b, c));
}

} // namespace ops
using ops::depth_to_space;

} // namespace sinter
