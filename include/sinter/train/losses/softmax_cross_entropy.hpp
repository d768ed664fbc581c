// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/number.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/softmax.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// What softmax_cross_entropy may be given.
struct cross_entropy_options {
    number label_smoothing =
        0.f;   ///< this share of each target is spread evenly over all classes (Szegedy et al. 2016)
    int ignored_label = 0;            ///< where `ignores`: places with this label count nothing, not even in the mean
    bool ignores = false;

    constexpr cross_entropy_options smoothed(number share) const { return {share, ignored_label, ignores}; }
    constexpr cross_entropy_options ignoring(int label) const { return {label_smoothing, label, true}; }
};

namespace detail {
/// log of the sum of e^z over the last axis, less the sum of t z, for targets t whose sum is 1: the
/// cross entropy. `shifted` is z less its largest. Where t is 0 nothing of z counts, so that a
/// class may have a logit of -infinity.
constexpr tensor cross_entropy(tensor shifted, tensor t, tensor total = {}) {
    const tensor log_sum = ops::log(sum(ops::exp(shifted), {-1})), hit = sum(only_where(t, t * shifted), {-1});
    return total.ok() ? total * log_sum - hit : log_sum - hit;
}
} // namespace detail

/// Cross entropy between softmax of the last axis of the logits [..., C] and class numbers [...],
/// int32 in [0, C); one value for each row (Keras' SparseCategoricalCrossentropy from logits,
/// PyTorch's CrossEntropyLoss). A logit of -infinity is a probability of zero: it costs nothing
/// unless it is the label's, and then everything.
template <cross_entropy_options O = cross_entropy_options{}>
struct softmax_cross_entropy_of {
    static_assert(O.label_smoothing.value >= 0.f && O.label_smoothing.value <= 1.f,
                  "label smoothing is a share from 0 to 1");
    static constexpr target_spec label = target_kind::class_index;
    static constexpr target_list targets{O.ignores ? label.ignoring(O.ignored_label).hiding(hidden_part::output)
                                                   : label};
    constexpr auto operator()(tensor logits, tensor labels) const {
        if constexpr (O.ignores) {
            if (!detail::one_for_each_row(logits, labels, op::row_sum)) return weighted_values(tensor{logits.g, -1});
            const tensor counted = 1.f - ops::equal(ops::to_float(labels), static_cast<float>(O.ignored_label));
            shape column = labels.shape();
            column.d[column.rank++] = 1;
            return weighted_values(values(detail::only_where(ops::reshape(counted, column), logits), labels), counted);
        } else {
            if (!detail::one_for_each_row(logits, labels, op::row_sum)) return tensor{logits.g, -1};
            return values(logits, labels);
        }
    }

private:
    static constexpr tensor values(tensor logits, tensor labels) {
        const int classes = logits.shape().last();
        const tensor z = ops::shifted(logits), hit = one_hot(labels, classes);
        if constexpr (O.label_smoothing.value > 0.f) {
            constexpr float share = O.label_smoothing.value;
            return detail::cross_entropy(z, hit * (1.f - share) + share / static_cast<float>(classes));
        }
        return ops::log(sum(ops::exp(z), {-1})) - sum(detail::only_where(hit, z), {-1});
    }
};
using softmax_cross_entropy_loss = softmax_cross_entropy_of<>;
inline constexpr softmax_cross_entropy_loss softmax_cross_entropy{};
/// softmax_cross_entropy_with<cross_entropy_options{}.smoothed(0.1).ignoring(-1)>.
template <cross_entropy_options O>
inline constexpr softmax_cross_entropy_of<O> softmax_cross_entropy_with{};

} // namespace sinter
