// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/tanh.hpp>

/// gelu's approximation by tanh (Hendrycks and Gimpel 2016), which GPT-2 and BERT's successors were trained with. ONNX: Gelu,
/// approximate tanh.
namespace sinter::ops {

constexpr tensor gelu_tanh(tensor x) {
    const tensor inner = (x * x * (0.044715f * 0.797884561f) + 0.797884561f) * x;   // sqrt(2 / pi)
    return x * (tanh(inner) * 0.5f + 0.5f);
}

} // namespace sinter::ops
