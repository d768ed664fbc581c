// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/detail/middle_moment.hpp>
#include <sinter/ops/max.hpp>
#include <sinter/ops/prod.hpp>
#include <sinter/ops/sum.hpp>

/// Reductions: ReduceSum, ReduceMax, ReduceProd.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// Over the axes that became 1; they stay.
SINTER_COLD inline void emit_kept(exporter& e, int id, const char* type) {
    const int x = e.operand(id, 0);
    const shape &from = e.s(x), &to = e.s(id);
    const bool first = from.rank > 1 && to.batched == from.batched && e.only_channels_first(x);
    few_numbers axes;
    if (from.batched && !to.batched) axes.push_back(0);
    for (int i = 0; i < from.rank; ++i)
        if (to.d[i] != from.d[i]) axes.push_back(from.batched + (!first ? i : i + 1 == from.rank ? 0 : i + 1));
    const value_name in = first ? e.value_channels_first(x) : e.value(x);
    value_name y = axes.empty() ? in : e.add(id, type, {in, e.m.whole(axes)});
    if (from.batched && !to.batched)
        e.set(id, e.add(id, "Squeeze", {y, e.m.whole({0})}));   // no batch is left, nor its axis
    else if (first) e.set_channels_first(id, y);
    else e.set(id, y);
}
SINTER_COLD inline void emit_sum(exporter& e, int id) { emit_kept(e, id, "ReduceSum"); }
SINTER_COLD inline void emit_middle_moment(exporter& e, int id) {
    const node& n = e.n(id);
    const value_name apart = e.add(id, "Sub", {e.value(e.operand(id, 0)), e.value(e.operand(id, 1))});
    const bool product = n.operands > 2;
    const value_name all = n.p[moment_attribute::distances]
                                ? apart
                                : e.add(id, "Mul", {apart, product ? e.value(e.operand(id, 2)) : apart});
    e.set(id, e.add(id, "ReduceSum", {all, e.m.whole({n.s.batched + 0})}));   // of [places, C]
}
SINTER_COLD inline void emit_max(exporter& e, int id) { emit_kept(e, id, "ReduceMax"); }
SINTER_COLD inline void emit_prod(exporter& e, int id) { emit_kept(e, id, "ReduceProd"); }
/// Over the batch and all axes but the last.
SINTER_COLD inline void emit_col_sum(exporter& e, int id) {
    const int x = e.operand(id, 0);
    few_numbers axes;
    for (int i = 0; i + 1 < e.s(x).rank + e.s(x).batched; ++i) axes.push_back(i);
    e.set(id, e.add(id, "ReduceSum", {e.value(x), e.m.whole(axes)}, {integer("keepdims", 0)}));
}

} // namespace detail

inline constexpr emitter reduction_emitters[] = {{op::row_sum, detail::emit_sum},
                                                 {op::middle_sum, detail::emit_sum},
                                                 {op::middle_moment, detail::emit_middle_moment},
                                                 {op::col_sum, detail::emit_col_sum},
                                                 {op::row_max, detail::emit_max},
                                                 {op::middle_max, detail::emit_max},
                                                 {op::prod, detail::emit_prod}};

} // namespace sinter::onnx
