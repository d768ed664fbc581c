// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/sub.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// Towards zero by `by`, and no further: the proximal map of by * |x| (soft thresholding).
constexpr tensor shrink(tensor x, tensor by) { return maximum(x - by, 0.f) - maximum(-x - by, 0.f); }

} // namespace sinter::detail
