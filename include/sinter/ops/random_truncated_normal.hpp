// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/probit.hpp>
#include <sinter/ops/random_uniform.hpp>

/// Standard normal numbers, none of them further than 2 from 0, as if others were drawn again:
/// uniform numbers from the fractions of -2 to 2 through probit. Their standard deviation is 0.88.
/// ONNX: none.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor random_truncated_normal(tensor like) {
    constexpr float below = 0.0227501319f;   // the fraction of normal numbers under -2
    return like.ok() ? probit(random_uniform(like) * (1.f - 2.f * below) + below) : like;
}

} // namespace sinter::ops

namespace sinter::inline SINTER_TARGET {
using ops::random_truncated_normal;
} // namespace sinter
