// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>

/// y = 1 where a < b, else 0. No gradient flows. ONNX: Less, then Cast.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor less(tensor a, tensor b) { return greater(b, a); }
constexpr tensor less(tensor a, float b) { return greater(b, a); }
constexpr tensor less(float a, tensor b) { return greater(b, a); }
}
using ops::less;

} // namespace sinter
