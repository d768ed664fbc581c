// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/number.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// Huber's loss (1964): d^2 / 2 up to |d| = Delta and Delta (|d| - Delta / 2) beyond, d = y - t;
/// the mean over the last axis for each row (Keras' Huber, PyTorch's HuberLoss; PyTorch's
/// SmoothL1Loss is this divided by its beta).
template <number Delta>
struct huber_loss {
    static_assert(Delta.value > 0.f, "huber: delta must be positive");
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor expected) const {
        if (!detail::same_extents(prediction, expected, op::sub)) return {prediction.g, -1};
        const tensor d = ops::abs(prediction - expected), near = ops::minimum(d, Delta.value);
        return detail::row_mean(near * near * 0.5f + ops::maximum(d - Delta.value, 0.f) * Delta.value);
    }
};
inline constexpr huber_loss<1.f> huber{};
template <number Delta>
inline constexpr huber_loss<Delta> huber_with{};

} // namespace sinter
