// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/erf.hpp>
#include <sinter/ops/mul.hpp>

/// gelu(x) = x/2 (1 + erf(x / sqrt 2)), the exact form (Hendrycks and Gimpel 2016). ONNX: Gelu,
/// approximate none.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor gelu(tensor x) { return x * (erf(x * 0.70710678118654752f) + 1.f) * 0.5f; }

} // namespace sinter::ops
