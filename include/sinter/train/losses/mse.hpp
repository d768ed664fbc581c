// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/program/trace.hpp>

namespace sinter {

/// Mean squared error over all elements and the batch (PyTorch's MSELoss, Keras' MeanSquaredError).
struct mse_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor target) const {
        if (!prediction.ok() || !target.ok()) return {prediction.g, -1};
        if (!(prediction.shape() == target.shape()))
            return fail(prediction.g, fault_kind::labels_do_not_fit_predictions, op::sub, target.shape(), prediction.shape());
        const tensor d = prediction - target;
        return d * d;
    }
};
inline constexpr mse_loss mse{};

} // namespace sinter
