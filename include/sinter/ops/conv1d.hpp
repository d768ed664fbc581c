// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/conv2d.hpp>

/// conv1d(x, w, {stride, padding, dilation, groups}): x [T, CI], w [K, CI / groups, CO] -> [T',
/// CO]; under padding::causal no result sees what comes after it. A row is an image one pixel high,
/// so dense windows have conv2d's fast kernels. ONNX: Conv, channels last after transposition.
namespace sinter::inline SINTER_TARGET::ops {

/// x [T, C] as an image; the axis that is added stands still under any window.
constexpr tensor as_image(tensor x) { return reshape(x, extents(1, x.shape().d[0], x.shape().d[1])); }
constexpr sliding still(int stride) {
    sliding a;
    a.stride = stride;
    return a;
}

constexpr tensor conv1d(tensor x, tensor w, window o = {}) {
    if (!x.ok() || !w.ok()) return {x.g ? x.g : w.g, -1};
    if (not_floats(op::conv, x) || not_floats(op::conv, w)) return {x.g, -1};
    x = plain(x);
    const shape s = x.shape(), k = w.shape();
    shape y;
    if (!convolved(x.g, op::conv, s, k, o, 1, y)) return {x.g, -1};
    const sliding h(s.d[0], k.d[0], o, 2);
    if (!is_dense(still(h.stride), h, o.groups)) return convolution(x, w, o);
    return reshape(dense_conv2d(as_image(x), w, still(h.stride), h), y);
}

} // namespace sinter::ops
