// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sort.hpp>

/// argsort(x, axis, order): int32, where the elements of sort(x, axis, order) came from:
/// take_along_axis(x, argsort(x), -1) is sort(x). Stable; NaN counts as larger than everything. No
/// gradient flows. ONNX: TopK's second result.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor argsort(tensor x, int axis = -1, order o = order::ascending) { return places_of(sort(x, axis, o)); }
}
using ops::argsort;

} // namespace sinter
