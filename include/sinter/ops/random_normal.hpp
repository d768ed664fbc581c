// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/probit.hpp>
#include <sinter/ops/random_uniform.hpp>

/// Standard normal numbers, a fresh set each step: random_uniform through the inverse of the
/// distribution function, so one uniform number an element, the same on every device. Between -5.42
/// and 5.30. ONNX: RandomNormalLike.
namespace sinter::inline SINTER_TARGET::ops {

/// Uniform in (0, 1): without the 0, whose logarithm nobody wants.
constexpr tensor random_above_zero(tensor like) {
    return like.ok() ? maximum(random_uniform(like), constant(like.g, 0x1p-25f)) : like;
}
/// One number an element of `like`, from a stream of its own.
constexpr tensor random_normal(tensor like) { return probit(random_above_zero(like)); }

} // namespace sinter::ops

namespace sinter::inline SINTER_TARGET {
using ops::random_normal;
} // namespace sinter
