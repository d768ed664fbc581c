// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>
#include <sinter/ops/where.hpp>
#include <sinter/compiler/trace.hpp>

/// What losses share.
namespace sinter::inline SINTER_TARGET::detail {

/// False, after a fault, unless a loss got float targets of the prediction's extents.
constexpr bool same_extents(tensor prediction, tensor target, const op_name& where) {
    if (!prediction.ok() || !target.ok()) return false;
    const shape y = prediction.shape(), t = target.shape();
    if (t.type != dtype::f32) fail(prediction.g, fault_kind::loss_must_declare_float_targets, where, t, y);
    else if (!(y == t)) fail(prediction.g, fault_kind::labels_do_not_fit_predictions, where, t, y);
    return y == t;
}
/// False, after a fault, unless a loss got an integer for each row of scores.
constexpr bool one_for_each_row(tensor scores, tensor labels, const op_name& where) {
    if (!scores.ok() || !labels.ok()) return false;
    const shape z = scores.shape(), y = labels.shape();
    bool fit = z.rank == y.rank + 1 && z.batched == y.batched && y.type == dtype::i32;
    for (int i = 0; fit && i < y.rank; ++i) fit = z.d[i] == y.d[i];
    if (y.type != dtype::i32) fail(scores.g, fault_kind::loss_must_declare_class_index_targets, where, y, z);
    else if (!fit) fail(scores.g, fault_kind::labels_do_not_fit_predictions, where, y, z);
    return fit;
}
/// The mean over the last axis: one value for each row of the prediction.
constexpr tensor row_mean(tensor x) { return x.ok() && x.shape().rank > 0 ? mean(x, {-1}) : x; }
/// x where `condition` is not 0, else an exact zero that neither infinity nor NaN comes through,
/// nor back in the gradient.
constexpr tensor only_where(tensor condition, tensor x) { return ops::where(condition, x, 0.f); }

} // namespace sinter::detail
