// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/argmax.hpp>

/// argmin(x, axis): the place of the smallest element; else as argmax(). ONNX: ArgMin.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor argmin(tensor x, int axis = -1, keep k = keep::no) { return arg_extreme(x, axis, k, true); }
}
using ops::argmin;

} // namespace sinter
