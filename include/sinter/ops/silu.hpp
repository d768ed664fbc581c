// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/sigmoid.hpp>

/// y = a sigmoid(a), also called swish (Elfwing et al. 2017). ONNX: Mul of Sigmoid (Swish since
/// opset 24).
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor silu(tensor a) { return a * sigmoid(a); }

} // namespace sinter::ops
