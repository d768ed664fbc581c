// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/log_softmax.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// What a prediction of probabilities consists of.
enum class score_kind : std::uint8_t { logits, log_probabilities, probabilities };

/// Kullback and Leibler's divergence of the prediction from the targets, probabilities t over the
/// last axis: sum of t (log t - log p); one value for each row. Of logits, through log_softmax; of
/// log-probabilities (PyTorch's KLDivLoss, whose default reduction divides by all elements, not by
/// rows); of probabilities, which count as at least 1e-7 (Keras' KLDivergence). What has the target
/// 0 costs nothing, be its logit -infinity.
template <score_kind From = score_kind::logits>
struct kl_divergence_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor expected) const {
        if (!detail::same_extents(prediction, expected, op::row_sum)) return {prediction.g, -1};
        if (prediction.shape().rank == 0)
            return fail(prediction.g, fault_kind::axis_out_of_range, op::row_sum, prediction.shape(), extents(1));
        tensor log_p = prediction;
        if (From == score_kind::logits) log_p = ops::log_softmax(prediction);
        if (From == score_kind::probabilities) log_p = ops::log(ops::maximum(prediction, 1e-7f));
        const tensor log_t = ops::log(ops::maximum(expected, 0x1p-126f));   // finite: 0 times infinity is NaN
        return sum(detail::only_where(expected, expected * (log_t - log_p)), {-1});
    }
};
inline constexpr kl_divergence_loss<> kl_divergence{};
template <score_kind From>
inline constexpr kl_divergence_loss<From> kl_divergence_of{};

} // namespace sinter
