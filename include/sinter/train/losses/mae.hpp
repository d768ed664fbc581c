// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// Mean absolute error, |y - t|: the mean over the last axis for each row. Where y = t no gradient
/// flows (PyTorch's L1Loss, Keras' MeanAbsoluteError).
struct mae_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor expected) const {
        if (!detail::same_extents(prediction, expected, op::sub)) return {prediction.g, -1};
        return detail::row_mean(ops::abs(prediction - expected));
    }
};
inline constexpr mae_loss mae{};

} // namespace sinter
