// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/one_hot.hpp>

/// range(of, n, start, step): [n], start + i * step, each element rounded but for itself. `of` only
/// says in which net. Nothing is stored where the kernel that reads it can count. NumPy's arange.
/// ONNX: Range.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor range(tensor of, int n, float start = 0, float step = 1) {
    if (!of.ok()) return of;
    if (n < 1) return fail(of.g, fault_kind::axis_out_of_range, op::column_index, extents(n), extents(1));
    tensor i = column_numbers(of.g, extents(n));
    if (!i.ok()) return i;
    if (step != 1) i = i * step;
    return start != 0 ? i + start : i;
}

} // namespace ops
using ops::range;

} // namespace sinter
