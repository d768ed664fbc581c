// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater_equal.hpp>

/// y = 1 where a <= b, else 0. No gradient flows. ONNX: LessOrEqual, then Cast.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor less_equal(tensor a, tensor b) { return greater_equal(b, a); }
constexpr tensor less_equal(tensor a, float b) { return greater_equal(b, a); }
constexpr tensor less_equal(float a, tensor b) { return greater_equal(b, a); }
}
using ops::less_equal;

} // namespace sinter
