// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/pivot_row.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/ops/stop_gradient.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>
#include <limits>

/// var(x, {axes}, ddof): the mean square of the distances from the mean over axes, in two passes;
/// the sum is divided by n - ddof, the number of elements less ddof. Over `batch_axis` too where
/// ddof is 0. Not a number where n = ddof. ONNX: none.
namespace sinter::inline SINTER_TARGET {

namespace detail {
/// One of the elements that are reduced together: along axes the first, over the batch the middle
/// one of three examples' (pivot_row). Distances from it lose no digits to a large mean, and are 0
/// where all are equal, as they are not from a mean that is a rounded sum. No gradient flows
/// through it.
constexpr tensor pivot_along(tensor x, const ops::axis_set& a) {
    x = ops::stop_gradient(x);
    shape s = x.shape();
    s.batched = s.batched && !a.batch;
    if (a.batch) x = ops::reshape(pivot_row(ops::reshape(x, extents(s.size()))), s);
    ops::box b(s);
    for (int i = 0; i < s.rank; ++i)
        if (a.reduced[i]) b.n[i] = 1;
    return ops::slice(x, b);
}
} // namespace detail

namespace ops {

constexpr tensor var(tensor x, std::initializer_list<int> axes, int ddof = 0, keep k = keep::no) {
    if (!x.ok()) return x;
    const axis_set a = parse_axes(x.shape(), axes);
    int n = 1;
    for (int i = 0; i < x.shape().rank; ++i) n *= a.reduced[i] ? x.shape().d[i] : 1;
    if (a.batch && ddof) return fail(x.g, fault_kind::batch_axis_refused, op::row_sum, x.shape(), x.shape());
    if (ddof < 0 || ddof > n) return fail(x.g, fault_kind::axis_out_of_range, op::row_sum, extents(ddof), extents(n));
    x = unpack(x);
    x = x - sinter::detail::pivot_along(x, a);
    const tensor d = x - mean(x, axes, keep::yes);
    if (ddof == 0) return mean(d * d, axes, k);
    return sum(d * d, axes, k) *
           (n > ddof ? 1.f / static_cast<float>(n - ddof) : std::numeric_limits<float>::quiet_NaN());
}

} // namespace ops
using ops::var;

} // namespace sinter
