// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/convolution.hpp>

/// depthwise_conv2d(x, w, {stride, padding, dilation}): x [H, W, C], w [KH, KW, C, M] -> [OH, OW, C
/// M], each channel apart by M filters of its own; result c M + m belongs to channel c. ONNX: Conv
/// with as many groups as channels.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor depthwise_conv2d(tensor x, tensor w, window o = {}) {
    if (!x.ok() || !w.ok()) return {x.g ? x.g : w.g, -1};
    const shape s = x.shape(), k = w.shape();
    if (s.rank != 3 || k.rank != 4 || s.d[2] != k.d[2])
        return fail(x.g,
                    s.rank == 3 && k.rank == 4 ? fault_kind::inner_extents_differ
                                               : fault_kind::needs_height_width_channels,
                    op::convolution, s, k);
    o.groups = s.d[2];
    return convolution(x, reshape(w, extents(k.d[0], k.d[1], 1, k.d[2] * k.d[3])), o);
}

} // namespace sinter::ops
