// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/broadcast.hpp>
#include <sinter/ops/conv2d.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/relu.hpp>

/// Larger images, [H, W, C]. upsample_nearest(x, {2, 3}): each pixel so many times. upsample_bilinear(x, height, width): between
/// the four pixels around, whose centres lie at halves (PyTorch's align_corners=False, Keras; outside of the outermost centres
/// the image goes on unchanged), or, under corners::aligned, with the outermost pixels on one another. ONNX: Resize.
namespace sinter::ops {

enum class corners { free, aligned };

namespace resizing {   // ops::detail would hide sinter::detail from the headers that come after
constexpr bool resizable(tensor x, int height, int width) {
    if (x.shape().rank != 3) x.g->fail(fault_kind::needs_height_width_channels, op::expand, x.shape(), batch_of(1, 1, 1));
    else if (height < 1 || width < 1) x.g->fail(fault_kind::window_out_of_range, op::expand, extents(height, width), extents(1, 1));
    else return true;
    return false;
}
/// [to, from]: how much of each old place is in each new one. A tent over the distance of the two.
constexpr tensor interpolation(graph* g, int from, int to, corners c) {
    const tensor place = reshape(make<op::column_index>(g, extents(to), {}), extents(to, 1));
    const float step = c == corners::free ? static_cast<float>(from) / static_cast<float>(to)
                                          : to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : 0.f;
    tensor at = c == corners::free ? place * step + (0.5f * step - 0.5f) : place * step;
    at = minimum(maximum(at, constant(g, 0.f)), constant(g, static_cast<float>(from - 1)));
    return relu(1.f - abs(make<op::column_index>(g, extents(to, from), {}) - at));
}
} // namespace resizing

constexpr tensor upsample_nearest(tensor x, per_axis factor) {
    if (!x.ok() || !resizing::resizable(x, factor.d[1], factor.d[2])) return {x.g, -1};
    x = plain(x);
    const shape s = x.shape();
    shape wide = batch_of(s.d[0], factor.d[1], s.d[1], factor.d[2], s.d[2]);
    wide.batched = s.batched;
    const tensor y = make<op::expand>(x.g, wide, {reshape(x, extents(s.d[0], 1, s.d[1], 1, s.d[2]))});
    return reshape(y, extents(s.d[0] * factor.d[1], s.d[1] * factor.d[2], s.d[2]));
}
constexpr tensor upsample_bilinear(tensor x, int height, int width, corners c = corners::free) {
    if (!x.ok() || !resizing::resizable(x, height, width)) return {x.g, -1};
    x = plain(x);
    const shape s = x.shape();
    const tensor rows = matmul(resizing::interpolation(x.g, s.d[0], height, c), reshape(x, extents(s.d[0], s.d[1] * s.d[2])));
    return matmul(resizing::interpolation(x.g, s.d[1], width, c), reshape(rows, extents(height, s.d[1], s.d[2])));
}

} // namespace sinter::ops
