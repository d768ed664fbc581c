// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/less_maximum.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/max.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/stop_gradient.hpp>

/// softmax over the last axis: e^(x - max) / sum of e^(x - max). Written in smaller ops; the fuser
/// makes one kernel of them, forward and backward. ONNX: Softmax, axis -1.
namespace sinter::inline SINTER_TARGET::ops {

/// x minus its row's largest element: e^ of it cannot overflow. No gradient flows through the
/// maximum: it cancels.
constexpr tensor shifted(tensor x) {
    const tensor m = stop_gradient(max(x, {-1}, keep::yes));
    return less_maximum(x, m);
}
constexpr tensor softmax(tensor x) {
    if (!x.ok()) return x;
    const tensor e = exp(shifted(x));
    return e *
           (1.f / sum(e, {-1}, keep::yes));   // one division a row; the sum is at least 1, and its reciprocal normal
}

} // namespace sinter::ops
