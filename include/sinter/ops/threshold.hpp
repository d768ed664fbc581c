// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/less_equal.hpp>
#include <sinter/ops/where.hpp>

/// y = a where a > at, else the given value; NaN passes. ONNX: Greater, Where.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor threshold(tensor a, float at, float otherwise) { return where(less_equal(a, at), otherwise, a); }

} // namespace sinter::ops
