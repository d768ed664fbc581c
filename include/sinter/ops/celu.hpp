// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/elu.hpp>

/// y = a where a > 0, else alpha (e^(a / alpha) - 1): an elu without a kink (Barron 2017). ONNX:
/// Celu.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor celu(tensor a, float alpha = 1) { return elu(a, alpha, 1.f / alpha); }

} // namespace sinter::ops
