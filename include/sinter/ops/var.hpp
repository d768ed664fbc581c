// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>
#include <limits>

/// var(x, {axes}, ddof): the mean square of the distances from the mean over axes, in two passes; the sum is divided by n - ddof,
/// the number of elements less ddof. Over `batch_axis` too where ddof is 0. Not a number where n = ddof. ONNX: none.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor var(tensor x, std::initializer_list<int> axes, int ddof = 0, keep k = keep::no) {
    if (!x.ok()) return x;
    const axis_set a = parse_axes(x.shape(), axes);
    int n = 1;
    for (int i = 0; i < x.shape().rank; ++i) n *= a.reduced[i] ? x.shape().d[i] : 1;
    if (a.batch && ddof) return fail(x.g, fault_kind::batch_axis_refused, op::row_sum, x.shape(), x.shape());
    if (ddof < 0 || ddof > n) return fail(x.g, fault_kind::axis_out_of_range, op::row_sum, extents(ddof), extents(n));
    x = unpack(x);
    const tensor d = x - mean(x, axes, keep::yes);
    if (ddof == 0) return mean(d * d, axes, k);
    return sum(d * d, axes, k) * (n > ddof ? 1.f / static_cast<float>(n - ddof) : std::numeric_limits<float>::quiet_NaN());
}

} // namespace ops
using ops::var;

} // namespace sinter
