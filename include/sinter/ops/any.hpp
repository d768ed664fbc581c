// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/max.hpp>
#include <sinter/ops/not_equal.hpp>

/// any(x, {axes}): 1 where some element over the axes is not 0, else 0; NaN is not 0. No gradient
/// flows. ONNX: ReduceMax of a comparison.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor any(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    return x.ok() ? max(not_equal(x, 0.f), axes, k) : x;
}
}
using ops::any;

} // namespace sinter
