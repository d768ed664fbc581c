// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/hard_sigmoid.hpp>
#include <sinter/ops/mul.hpp>

/// y = a hard_sigmoid(a) (Howard et al. 2019). ONNX: HardSwish.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor hard_swish(tensor a) { return a * hard_sigmoid(a); }

} // namespace sinter::ops
