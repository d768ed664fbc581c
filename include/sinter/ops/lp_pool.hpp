// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/norm.hpp>

/// lp_pool(x, p, k, {stride, padding, rounding}): (the sum of |x|^p over each window)^(1 / p),
/// channel by channel, for whole p from 1 on; what lies outside of the image counts as zero. A
/// window of zeros has the gradient 0. ONNX: LpPool.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor lp_pool(tensor x, int p, per_axis k, window o) {
    if (x.ok() && p < 1) return fail(x.g, fault_kind::window_out_of_range, op::avg_pool, extents(p), extents(1));
    if (!x.ok()) return x;
    float elements = 1;
    for (int i = 0; i < 3; ++i) elements *= x.shape().rank - 1 > 2 - i ? static_cast<float>(k.d[i]) : 1.f;
    const tensor a = p % 2 ? abs(x) : x;
    tensor power = a;
    for (int i = 1; i < p; ++i) power = power * a;
    const tensor sum = pool<op::avg_pool>(power, k, o, true) * elements;
    return p == 1 ? sum : p == 2 ? root_of_squares(sum) : positive_power(sum, 1.f / static_cast<float>(p));
}

} // namespace sinter::ops

namespace sinter::inline SINTER_TARGET {
using ops::lp_pool;
} // namespace sinter
