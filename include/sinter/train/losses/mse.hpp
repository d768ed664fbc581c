// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// Mean squared error, (y - t)^2: the mean over the last axis for each row of the prediction, and
/// over rows and the batch (PyTorch's MSELoss, Keras' MeanSquaredError).
struct mse_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor expected) const {
        if (!detail::same_extents(prediction, expected, op::sub)) return {prediction.g, -1};
        const tensor d = prediction - expected;
        return detail::row_mean(d * d);
    }
};
inline constexpr mse_loss mse{};

} // namespace sinter
