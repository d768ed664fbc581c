// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// max(0, 1 - t y)^2 with targets of -1 and 1: the mean over the last axis for each row (Keras'
/// SquaredHinge, which makes -1 of 0 where all targets are 0 or 1; here they are taken as they
/// are).
struct squared_hinge_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor expected) const {
        if (!detail::same_extents(prediction, expected, op::sub)) return {prediction.g, -1};
        const tensor short_by = ops::relu(1.f - expected * prediction);
        return detail::row_mean(short_by * short_by);
    }
};
inline constexpr squared_hinge_loss squared_hinge{};

} // namespace sinter
