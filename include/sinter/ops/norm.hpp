// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>
#include <sinter/ops/l1_norm.hpp>
#include <sinter/ops/l2_norm.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/min.hpp>
#include <sinter/ops/not_equal.hpp>
#include <sinter/ops/where.hpp>
#include <limits>

/// norm(x, p, {axes}): the p-norm of vectors, (sum of |x|^p)^(1/p); for p infinity the largest |x|,
/// for minus infinity the smallest, for 0 the number of elements that are not 0. Zeros have the
/// gradient 0. ONNX: LpNormalization's divisor.
namespace sinter::inline SINTER_TARGET {

namespace ops {

/// a^p of numbers that are not negative; of 0 always 0, and no gradient.
constexpr tensor positive_power(tensor a, float p) {
    if (!a.ok()) return a;
    const tensor none = equal(a, 0.f);
    return where(none, 0.f, exp(log(a + none) * p));
}
constexpr tensor norm(tensor x, float p, std::initializer_list<int> axes, keep k = keep::no) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (!x.ok()) return x;
    if (p == 1) return l1_norm(x, axes, k);
    if (p == 2) return l2_norm(x, axes, k);
    if (p == 0) return sum(not_equal(x, 0.f), axes, k);
    if (p == infinity) return max(abs(x), axes, k);
    if (p == -infinity) return min(abs(x), axes, k);
    if (!(p > 0)) return fail(x.g, fault_kind::axis_out_of_range, op::row_sum, x.shape(), extents(1));
    const tensor size = size_along(x, axes);
    return scaled_back(positive_power(sum(positive_power(abs(x) / size, p), axes, k), 1.f / p), size);
}

} // namespace ops
using ops::norm;

} // namespace sinter
