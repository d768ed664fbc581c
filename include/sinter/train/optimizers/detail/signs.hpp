// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/sub.hpp>

/// What several optimizers say about signs, in elementwise ops.
namespace sinter::detail {

/// -1, 0 or 1.
constexpr tensor sign_of(tensor x) { return greater(x, 0.f) - greater(-x, 0.f); }
constexpr tensor absolute(tensor x) { return maximum(x, -x); }
/// Towards zero by `by`, and no further: the proximal map of by * |x| (soft thresholding).
constexpr tensor shrink(tensor x, tensor by) { return maximum(x - by, 0.f) - maximum(-x - by, 0.f); }

} // namespace sinter::detail
