// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>
#include <sinter/ops/log1p.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// Cross entropy of independent yes-or-no decisions: -t log s(z) - (1 - t) log(1 - s(z)) with the
/// logistic function s, logits z and targets t in [0, 1]; the mean over the last axis for each row
/// (PyTorch's BCEWithLogitsLoss, Keras' BinaryCrossentropy from logits). Computed as t max(-z, 0) +
/// (1 - t) max(z, 0) + log(1 + e^-|z|), which does not overflow; a logit of infinity that is right
/// costs nothing.
struct sigmoid_cross_entropy_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    static constexpr bool of_logits = true;   ///< the output is no probability
    constexpr tensor operator()(tensor logits, tensor expected) const {
        if (!detail::same_extents(logits, expected, op::sub)) return {logits.g, -1};
        const tensor no = 1.f - expected, rest = ops::log1p(ops::exp(-ops::abs(logits)));
        const tensor missed = detail::only_where(expected, expected * ops::maximum(-logits, 0.f));
        const tensor raised = detail::only_where(no, no * ops::maximum(logits, 0.f));
        return detail::row_mean(missed + raised + rest);
    }
};
inline constexpr sigmoid_cross_entropy_loss sigmoid_cross_entropy{};

} // namespace sinter
