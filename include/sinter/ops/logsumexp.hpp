// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/less_maximum.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/max.hpp>
#include <sinter/ops/stop_gradient.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/where.hpp>

/// logsumexp(x, {axes}): log of the sum of e^x over axes, by way of the largest, so that nothing
/// overflows. ONNX: ReduceLogSumExp.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor logsumexp(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    if (!x.ok()) return x;
    const tensor most = stop_gradient(max(x, axes, keep::yes));
    if (!most.ok()) return most;
    const tensor shift =
        where(equal(most - most, 0.f), most, 0.f);   // an infinite one would give infinity less infinity
    const tensor y = log(sum(exp(less_maximum(x, shift)), axes, k));
    return y.ok() ? y + reshape(shift, y.shape()) : y;
}

} // namespace ops
using ops::logsumexp;

} // namespace sinter
