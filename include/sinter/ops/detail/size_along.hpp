// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/max.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/stop_gradient.hpp>
#include <limits>

namespace sinter::inline SINTER_TARGET::ops {

/// What numbers are divided by before their powers are summed along axes, so that these neither
/// overflow nor vanish: the largest |x|, 1 where all are 0, finite. For functions whose value
/// scales with x: then no gradient has to come by way of it.
constexpr tensor size_along(tensor x, std::initializer_list<int> axes) {
    const tensor most = stop_gradient(max(abs(x), axes, keep::yes));
    if (!most.ok()) return most;
    return minimum(most, std::numeric_limits<float>::max()) + equal(most, 0.f);
}
/// y times such sizes, which it may have without their axes.
constexpr tensor scaled_back(tensor y, tensor size) { return y.ok() && size.ok() ? y * reshape(size, y.shape()) : y; }

} // namespace sinter::ops
