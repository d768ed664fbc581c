// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/log.hpp>
#include <sinter/ops/softmax.hpp>

/// log_softmax over the last axis: (x - max) - log of the sum of e^(x - max); exact where softmax
/// would round to 0 or
/// 1. ONNX: LogSoftmax, axis -1.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor log_softmax(tensor x) {
    if (!x.ok()) return x;
    const tensor s = shifted(x);
    return s - log(sum(exp(s), {-1}, keep::yes));
}

} // namespace sinter::ops
