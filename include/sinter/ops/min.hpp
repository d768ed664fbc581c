// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/max.hpp>
#include <sinter/ops/neg.hpp>

/// min(x, {axes}): the smallest element over axes, as max() the largest: -max(-x), whose signs cost
/// nothing. ONNX: ReduceMin.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor min(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    return x.ok() ? -max(-x, axes, k) : x;
}
}
using ops::min;

} // namespace sinter
