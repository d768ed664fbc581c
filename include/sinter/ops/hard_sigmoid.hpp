// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/hard_tanh.hpp>
#include <sinter/ops/mul.hpp>

/// y = a / 6 + 1/2 within [0, 1] (Howard et al. 2019). ONNX: HardSigmoid, alpha 1/6.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor hard_sigmoid(tensor a) { return hard_tanh(a * (1.f / 6.f) + 0.5f, 0.f, 1.f); }

} // namespace sinter::ops
