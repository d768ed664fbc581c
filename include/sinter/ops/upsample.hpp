// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/broadcast.hpp>
#include <sinter/ops/detail/window.hpp>
#include <sinter/ops/interpolate.hpp>
#include <sinter/ops/reshape.hpp>

/// Larger images, [H, W, C]. upsample_nearest(x, {2, 3}): each pixel so many times.
/// upsample_bilinear(x, height, width): between the four pixels around, along one axis after the
/// other (see interpolate.hpp). ONNX: Resize.
namespace sinter::inline SINTER_TARGET::ops {

namespace resizing {   // ops::detail would hide sinter::detail from the headers that come after
constexpr bool resizable(tensor x, int height, int width) {
    if (x.shape().rank != 3)
        x.g->fail(fault_kind::needs_height_width_channels, op::expand, x.shape(), batch_of(1, 1, 1));
    else if (height < 1 || width < 1)
        x.g->fail(fault_kind::window_out_of_range, op::expand, extents(height, width), extents(1, 1));
    else return true;
    return false;
}
/// Are the new extents integers? A fault if not.
constexpr bool fits(tensor x, per_axis factor) {
    const shape s = x.shape();
    for (int i = 0; i < 2; ++i)
        if (1. * s.d[i] * factor.d[i + 1] > 0x7fffffff) {
            x.g->fail(fault_kind::tensor_too_large, op::expand, extents(s.d[i], factor.d[i + 1]), extents(0x7fffffff));
            return false;
        }
    return true;
}
} // namespace resizing

constexpr tensor upsample_nearest(tensor x, per_axis factor) {
    if (!x.ok() || !resizing::resizable(x, factor.d[1], factor.d[2]) || !resizing::fits(x, factor)) return {x.g, -1};
    x = plain(x);
    const shape s = x.shape();
    shape wide = batch_of(s.d[0], factor.d[1], s.d[1], factor.d[2], s.d[2]);
    wide.batched = s.batched;
    const tensor y = make<op::expand>(x.g, wide, {reshape(x, extents(s.d[0], 1, s.d[1], 1, s.d[2]))});
    return reshape(y, extents(s.d[0] * factor.d[1], s.d[1] * factor.d[2], s.d[2]));
}
constexpr tensor upsample_bilinear(tensor x, int height, int width, corners c = corners::free) {
    if (!x.ok() || !resizing::resizable(x, height, width)) return {x.g, -1};
    return interpolate(interpolate(plain(x), 0, height, c), 1, width, c);
}

} // namespace sinter::ops
