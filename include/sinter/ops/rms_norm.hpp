// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/div.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/sum.hpp>

/// rms_norm(x, epsilon): x / sqrt(mean(x^2) + epsilon) over the last axis (Zhang and Sennrich
/// 2019). ONNX: RMSNormalization, without its scale.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor rms_norm(tensor x, float epsilon = 1e-6f) {
    return x.ok() ? x / sqrt(mean(x * x, {-1}, keep::yes) + epsilon) : x;
}

} // namespace sinter::ops
