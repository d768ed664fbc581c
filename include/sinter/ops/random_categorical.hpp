// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/less_maximum.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/max.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/random_normal.hpp>
#include <sinter/ops/stop_gradient.hpp>
#include <sinter/ops/where.hpp>

/// Class numbers drawn with the probabilities softmax(logits): [..., C] -> [...], integers as
/// floats. The largest of logits plus Gumbel noise (Gumbel 1954), the first of equals. No gradient
/// flows. ONNX: Multinomial.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor random_categorical(tensor logits) {
    if (!logits.ok()) return logits;
    logits = stop_gradient(plain(logits));
    const shape s = logits.shape();
    if (s.rank < 1) return fail(logits.g, fault_kind::axis_out_of_range, op::random_uniform, s, s);
    // From the largest one: beside large numbers the noise would be rounded away.
    const tensor most = max(logits, {-1}, keep::yes), shift = where(equal(most - most, 0.f), most, 0.f);
    const tensor noisy = less_maximum(logits, shift) - log(-log(random_above_zero(logits)));
    const tensor hit = equal(noisy, max(noisy, {-1}, keep::yes));
    const float classes = static_cast<float>(s.last());
    return classes - maximum(max(hit * (classes - column_numbers(logits.g, s)), {-1}), 1.f);   // NaN hits nothing
}

} // namespace sinter::ops

namespace sinter::inline SINTER_TARGET {
using ops::random_categorical;
} // namespace sinter
