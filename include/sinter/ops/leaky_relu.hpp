// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/prelu.hpp>

/// y = a where a > 0, else slope * a (Maas et al. 2013). ONNX: LeakyRelu, alpha the slope.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor leaky_relu(tensor a, float slope = 0.01f) { return a.ok() ? prelu(a, constant(a.g, slope)) : a; }

} // namespace sinter::ops
