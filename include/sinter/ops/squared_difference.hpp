// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/sub.hpp>

/// y = (a - b)^2, broadcast as in NumPy. ONNX: Sub, then Mul.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor squared_difference(tensor a, tensor b) {
    const tensor d = a - b;
    return d * d;
}

} // namespace sinter::ops

namespace sinter::inline SINTER_TARGET {
using ops::squared_difference;
} // namespace sinter
