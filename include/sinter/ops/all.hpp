// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/max.hpp>
#include <sinter/ops/sub.hpp>

/// all(x, {axes}): 1 where no element over the axes is 0, else 0; NaN is not 0. No gradient flows.
/// ONNX: ReduceMin of a comparison.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor all(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    return x.ok() ? 1.f - max(equal(x, 0.f), axes, k) : x;
}
}
using ops::all;

} // namespace sinter
