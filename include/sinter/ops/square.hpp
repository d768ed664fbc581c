// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>

/// y = a^2, the product of a with itself. ONNX: Mul.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor square(tensor a) { return a * a; }

} // namespace sinter::ops

namespace sinter::inline SINTER_TARGET {
using ops::square;
} // namespace sinter
