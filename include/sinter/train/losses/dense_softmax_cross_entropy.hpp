// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/losses/softmax_cross_entropy.hpp>

namespace sinter::inline SINTER_TARGET {

/// Cross entropy between softmax of the last axis of the logits and targets of the same extents,
/// probabilities t over the last axis: -(sum of t log softmax(z)); one value for each row (Keras'
/// CategoricalCrossentropy from logits, PyTorch's CrossEntropyLoss with probabilities). Smoothing
/// first makes (1 - share) t + share / C of t. Targets need not sum to 1, but none may be negative.
template <number Smoothing = 0.f>
struct dense_softmax_cross_entropy_loss {
    static_assert(Smoothing.value >= 0.f && Smoothing.value <= 1.f, "label smoothing is a share from 0 to 1");
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor logits, tensor expected) const {
        if (!detail::same_extents(logits, expected, op::row_sum)) return {logits.g, -1};
        if (logits.shape().rank == 0)
            return fail(logits.g, fault_kind::axis_out_of_range, op::row_sum, logits.shape(), extents(1));
        tensor t = expected;
        if (Smoothing.value > 0.f)
            t = t * (1.f - Smoothing.value) + Smoothing.value / static_cast<float>(logits.shape().last());
        return detail::cross_entropy(ops::shifted(logits), t, sum(t, {-1}));
    }
};
inline constexpr dense_softmax_cross_entropy_loss<> dense_softmax_cross_entropy{};
template <number Smoothing>
inline constexpr dense_softmax_cross_entropy_loss<Smoothing> dense_softmax_cross_entropy_with{};

} // namespace sinter
