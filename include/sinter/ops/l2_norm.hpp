// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/stddev.hpp>

/// l2_norm(x, {axes}): the square root of the sum of squares over axes. Where it is 0, so is its
/// gradient. ONNX: ReduceL2.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor l2_norm(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    const tensor size = size_along(x, axes), u = x / size;
    return scaled_back(root_of_squares(sum(u * u, axes, k)), size);
}
}
using ops::l2_norm;

} // namespace sinter
