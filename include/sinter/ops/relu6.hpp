// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/hard_tanh.hpp>

/// y = a within [0, 6] (Krizhevsky 2010); the gradient at the bounds is 0. ONNX: Clip.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor relu6(tensor a) { return hard_tanh(a, 0.f, 6.f); }

} // namespace sinter::ops
