// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/conv2d.hpp>
#include <sinter/ops/depthwise_conv2d.hpp>

/// separable_conv2d(x, depthwise, pointwise, window): x [H, W, C], depthwise [KH, KW, C, M],
/// pointwise [1, 1, C M, F] -> [OH, OW, F]: each channel apart, then all channels of a pixel (Sifre
/// 2014; Chollet 2017). ONNX: two Conv.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor separable_conv2d(tensor x, tensor depthwise, tensor pointwise, window o = {}) {
    return conv2d(depthwise_conv2d(x, depthwise, o), pointwise, {.padding = padding::valid});
}

} // namespace sinter::ops
