// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>
#include <sinter/ops/less.hpp>
#include <sinter/ops/log1p.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/sinh.hpp>
#include <sinter/ops/where.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// log cosh(y - t), half the square where it is small and the distance less log 2 where it is
/// large; computed as |d| + log(1 + e^(-2 |d|)) - log 2, which does not overflow, from |d| = 1 on.
/// The mean over the last axis for each row (Keras' LogCosh).
struct log_cosh_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor expected) const {
        if (!detail::same_extents(prediction, expected, op::sub)) return {prediction.g, -1};
        const tensor d = ops::abs(prediction - expected);
        const tensor s =
            ops::sinh(ops::minimum(d, 1.f) * 0.5f);   // near 0 log(1 + (cosh d - 1)): the other form cancels
        const tensor far = d + ops::log1p(ops::exp(d * -2.f)) - 0.69314718f;
        return detail::row_mean(ops::where(ops::less(d, 1.f), ops::log1p(s * s * 2.f), far));
    }
};
inline constexpr log_cosh_loss log_cosh{};

} // namespace sinter
