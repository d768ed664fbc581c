// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/ops/log_softmax.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/program/trace.hpp>

namespace sinter {

/// Cross entropy between softmax of the last axis of the logits [..., C] and class numbers [...], int32 in [0, C);
/// the mean over the batch (Keras' SparseCategoricalCrossentropy from logits, PyTorch's CrossEntropyLoss).
struct softmax_cross_entropy_loss {
    static constexpr target_kind target = target_kind::class_index;
    constexpr tensor operator()(tensor logits, tensor labels) const {
        if (!logits.ok() || !labels.ok()) return {logits.g, -1};
        const shape z = logits.shape(), y = labels.shape();
        bool fit = z.rank == y.rank + 1 && z.batched == y.batched && y.type == dtype::i32;
        for (int i = 0; fit && i < y.rank; ++i) fit = z.d[i] == y.d[i];
        if (!fit) return fail(logits.g, fault_kind::labels_do_not_fit_predictions, op::row_sum, y, z);
        return -sum(ops::log_softmax(logits) * one_hot(labels, z.last()), {-1});
    }
};
inline constexpr softmax_cross_entropy_loss softmax_cross_entropy{};

} // namespace sinter
