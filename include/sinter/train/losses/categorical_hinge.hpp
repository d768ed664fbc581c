// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/max.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// max(0, 1 + wrong - right) for class numbers [...], int32 in [0, C): `right` is the score of the
/// label and `wrong` the largest of the others, but at least 0 (so has it Keras' CategoricalHinge,
/// from targets one-hot. PyTorch's MultiMarginLoss sums over all wrong classes instead of taking
/// the largest). Scores [..., C]; one value for each row. Where several scores are the largest they
/// share the gradient.
struct categorical_hinge_loss {
    static constexpr target_kind target = target_kind::class_index;
    constexpr tensor operator()(tensor scores, tensor labels) const {
        if (!detail::one_for_each_row(scores, labels, op::row_max)) return {scores.g, -1};
        const tensor hit = one_hot(labels, scores.shape().last());
        const tensor right = sum(detail::only_where(hit, scores), {-1}),
                     wrong = max(detail::only_where(1.f - hit, scores), {-1});
        return ops::relu(wrong - right + 1.f);
    }
};
inline constexpr categorical_hinge_loss categorical_hinge{};

} // namespace sinter
