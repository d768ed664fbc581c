// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>
#include <sinter/ops/log1p.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// log cosh(y - t), half the square where it is small and the distance less log 2 where it is large; computed as |d| +
/// log(1 + e^(-2 |d|)) - log 2, which does not overflow. The mean over the last axis for each row (Keras' LogCosh).
struct log_cosh_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor target) const {
        if (!detail::same_extents(prediction, target, op::sub)) return {prediction.g, -1};
        const tensor d = ops::abs(prediction - target);
        return detail::row_mean(d + ops::log1p(ops::exp(d * -2.f)) - 0.69314718f);
    }
};
inline constexpr log_cosh_loss log_cosh{};

} // namespace sinter
