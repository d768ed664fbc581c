// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/neg.hpp>
#include <sinter/ops/softplus.hpp>

/// y = log(sigmoid(a)) = -softplus(-a), without overflow or underflow. ONNX: Neg, Softplus, Neg.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor log_sigmoid(tensor a) { return -softplus(-a); }

} // namespace sinter::ops
