// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/initializer.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/not_equal.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/sum.hpp>
#include <sinter/ops/where.hpp>

/// embedding_bag(table [V, E], indices [..., N] int32, {...}) -> [..., E]: the rows of a bag of
/// indices as one: their sum; their mean, the sum divided by that of the weights; or divided by the
/// root of the sum of the weights' squares (sqrtn). Weights [..., N] are 1 without any. An index
/// that is `padding` counts for nothing; an empty bag gives zeros. ONNX: Gather, Mul, ReduceSum.
namespace sinter::inline SINTER_TARGET {

/// How rows become one; sqrtn: their sum over the root of the sum of the weights' squares.
enum class combine : std::uint8_t { sum, mean, sqrtn };

/// `weights`: [..., N], a factor for each index; none: all 1.
struct bag_options {
    sinter::combine combine = sinter::combine::sum;
    tensor weights{};
    int padding = -1;   ///< -1: there is none
};

namespace ops {

constexpr tensor embedding_bag(tensor table, tensor indices, bag_options o = {}) {
    if (!table.ok() || !indices.ok()) return {table.g ? table.g : indices.g, -1};
    const shape s = indices.shape();
    if (s.rank < 1) return fail(table.g, fault_kind::axis_out_of_range, op::gather_rows, s, extents(1));
    tensor rows = gather_rows(table, indices), w = o.weights;
    if (!rows.ok() || (w.g && !w.ok())) return {table.g, -1};
    shape column = s.plain();   // one weight a row
    column.type = dtype::f32;
    if (w.g) {
        if (w.shape().size() != s.size() || (w.shape().batched && !s.batched))
            return fail(table.g, fault_kind::shapes_not_broadcastable, op::gather_rows, w.shape(), s);
        if (w.shape().rank != s.rank) w = reshape(w, column);
    }
    if (o.padding >= 0) {
        if (!floats_can_name(*table.g, op::to_float, table.shape(), table.shape().d[0])) return {table.g, -1};
        const tensor counts =
            binary<op::not_equal>(to_float(indices), constant(table.g, static_cast<float>(o.padding)));
        shape each = counts.shape();
        each.d[each.rank++] = 1;
        rows = where(reshape(counts, each), rows, 0.f);   // whatever the table has there, be it NaN
        w = w.g ? where(counts, w, 0.f) : counts;
    }
    const int n = s.last();
    if (!w.g) {
        if (o.combine == combine::sum) return sum(rows, {-2});
        const float f = static_cast<float>(n);
        return sum(rows, {-2}) * (1 / (o.combine == combine::mean ? f : compiler::root(f)));
    }
    shape weight = w.shape();
    weight.d[weight.rank++] = 1;
    const tensor y = sum(o.weights.g ? rows * reshape(w, weight) : rows, {-2});
    if (o.combine == combine::sum) return y;
    const tensor all = o.combine == combine::mean ? sum(w, {-1}, keep::yes) : sum(w * w, {-1}, keep::yes);
    const tensor divisor = where(binary<op::equal>(all, constant(table.g, 0)), 1.f, all);   // an empty bag
    return y / (o.combine == combine::mean ? divisor : sqrt(divisor));
}

} // namespace ops

} // namespace sinter
