// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/elu.hpp>
#include <sinter/ops/mul.hpp>

/// y = 1.0507 elu(a) with alpha 1.67326: activations keep mean 0 and variance 1 (Klambauer et al.
/// 2017). ONNX: Selu.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor selu(tensor a) { return elu(a, 1.67326324f) * 1.05070099f; }

} // namespace sinter::ops
