// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// Negative log-likelihood of counts t under Poisson distributions whose rates' logarithms z are
/// predicted: e^z - t z, without log t!, which is no matter of the prediction; the mean over the
/// last axis for each row (PyTorch's PoissonNLLLoss).
struct poisson_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor log_rate, tensor expected) const {
        if (!detail::same_extents(log_rate, expected, op::sub)) return {log_rate.g, -1};
        return detail::row_mean(ops::exp(log_rate) - detail::only_where(expected, expected * log_rate));
    }
};
inline constexpr poisson_loss poisson{};

/// The same where the rates r themselves are predicted: r - t log(r + 1e-7) (Keras' Poisson;
/// PyTorch's with log_input=False, which adds 1e-8).
struct poisson_of_rate_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor rate, tensor expected) const {
        if (!detail::same_extents(rate, expected, op::sub)) return {rate.g, -1};
        return detail::row_mean(rate - expected * ops::log(rate + 1e-7f));
    }
};
inline constexpr poisson_of_rate_loss poisson_of_rate{};

} // namespace sinter
