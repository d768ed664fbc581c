// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/softplus.hpp>
#include <sinter/ops/tanh.hpp>

/// y = a tanh(softplus(a)) (Misra 2019). ONNX: Mish.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor mish(tensor a) { return a * tanh(softplus(a)); }

} // namespace sinter::ops
