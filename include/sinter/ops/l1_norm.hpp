// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/sum.hpp>

/// l1_norm(x, {axes}): the sum of the elements' absolute values over axes. ONNX: ReduceL1.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor l1_norm(tensor x, std::initializer_list<int> axes, keep k = keep::no) { return sum(abs(x), axes, k); }
}
using ops::l1_norm;

} // namespace sinter
