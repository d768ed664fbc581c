// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/indices.hpp>
#include <sinter/ops/equal.hpp>

/// one_hot(labels, n): [...] int32 -> [..., n], 1 where the column is the label, else 0. Nothing is
/// stored: the kernel compares as it goes. Labels are compared as floats, so there are at most 2^24
/// columns. ONNX: OneHot.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name column_index{"column_index"}, to_float{"to_float"};
}

/// The number of the column, as a float.
template <>
struct rule<op::column_index> : elementwise_rule<0, 0> {
    static constexpr const char* name = "column_index";
    static constexpr void gradient(gradient_of&) {}
};

/// An int32 as a float (exact below 2^24). Done by the load, so it costs no operation.
template <>
struct rule<op::to_float> : elementwise_rule<1, 0> {
    static constexpr bool identity = true;
    static constexpr const char* name = "to_float";
    template <class V>
    static SINTER_VALUE V value(V a) { return a; }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {

constexpr tensor to_float(tensor a) {
    if (!a.ok() || a.shape().type == dtype::f32) return a;
    shape s = a.shape();
    s.type = dtype::f32;
    if (!floats_can_name(*a.g, op::to_float, s, known_below(*a.g, a.id))) return {a.g, -1};
    return make<op::to_float>(a.g, s, {a});
}

/// The numbers of the last axis' places, 0, 1, ..., for all rows of `s` alike.
constexpr tensor column_numbers(compiler::graph* g, const shape& s) {
    if (!floats_can_name(*g, op::column_index, s, s.last())) return {g, -1};
    return make<op::column_index>(g, s, {});
}

constexpr tensor one_hot(tensor labels, int n) {
    if (!labels.ok()) return labels;
    if (n < 1 || labels.shape().rank == max_rank)
        return fail(labels.g, fault_kind::axis_out_of_range, op::column_index, labels.shape(), extents(n));
    shape rows = labels.shape(), s = rows;
    s.type = dtype::f32;
    s.d[s.rank++] = n;
    rows.d[rows.rank++] = 1;
    const tensor column = column_numbers(labels.g, s);
    const tensor label = to_float(make<op::reshape>(labels.g, rows, {labels}));
    return binary<op::equal>(column, label);
}

} // namespace ops
using ops::one_hot;
using ops::to_float;

} // namespace sinter
