// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/dataset.hpp>
#if SINTER_BODIES
#include <sinter/base/number_text.hpp>
#include <sinter/data/transform/gather.hpp>
#endif

/// Rare classes that count more: weights of classes, and of the examples that belong to them.
namespace sinter::inline SINTER_ORDINARY::data {

/// One weight for each of `classes` (0: the largest label and one): n / (k * count), with n labels
/// in all and k classes that occur, so that all of these have the same weight together, and labels
/// a mean weight of 1 (scikit-learn's "balanced"). 0 for classes that do not occur. data_error for
/// a label that is out of range; without `classes` from 2^24 on, too, where one stray label would
/// take gigabytes. option_error for a negative number of classes.
SINTER_APART std::vector<float> balanced_class_weights(span<const std::int32_t> labels, int classes = 0);

/// The set with weights: each example (each of its labels, where there are several) counts as much
/// as its class, in a loss that is weighted(...). data_error for labels without a weight, or a set
/// that has none or has weights already; option_error for weights that are not finite. Negative
/// ones are taken, as everywhere.
SINTER_APART dataset class_weighted(const dataset& set, span<const float> of_classes);

#if SINTER_BODIES
namespace detail {
inline void need_class(std::int32_t label, std::size_t classes, std::size_t i, const char* where) {
    if (label < 0 || static_cast<std::size_t>(label) >= classes)
        throw data_error("label out of range", to_text({where, ", label ", i}), to_text({label}),
                         to_text({"0 to ", classes - 1}));
}
} // namespace detail

SINTER_APART std::vector<float> balanced_class_weights(span<const std::int32_t> labels, int classes) {
    if (classes < 0)
        throw option_error("number of classes", "balanced_class_weights", to_text({classes}), "0 or more");
    auto n = static_cast<std::size_t>(classes);
    for (std::size_t i = 0; classes == 0 && i < labels.size(); ++i) {
        detail::need_class(labels[i], std::size_t{1} << 24, i, "balanced_class_weights");
        if (static_cast<std::size_t>(labels[i]) >= n) n = static_cast<std::size_t>(labels[i]) + 1;
    }
    std::vector<std::int64_t> counts(n);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        detail::need_class(labels[i], n, i, "balanced_class_weights");
        ++counts[static_cast<std::size_t>(labels[i])];
    }
    std::int64_t occur = 0;
    for (const std::int64_t c : counts) occur += c > 0;
    std::vector<float> weights(n);
    for (std::size_t c = 0; c < n; ++c)
        if (counts[c]) weights[c] = static_cast<float>(static_cast<double>(labels.size()) /
                                                       (static_cast<double>(occur) * static_cast<double>(counts[c])));
    return weights;
}

SINTER_APART dataset class_weighted(const dataset& set, span<const float> of_classes) {
    for (std::size_t c = 0; c < of_classes.size(); ++c)
        if (of_classes[c] - of_classes[c] != 0)
            throw option_error("impossible weight of a class", to_text({"class_weighted, class ", c}),
                               base::number_text(of_classes[c]), "a finite number");
    const column* of_labels = nullptr;
    for (const column& c : set.columns())
        if (c.use == role::label && !of_labels) of_labels = &c;
    if (!of_labels) throw data_error("the set has no labels", "class_weighted");
    const span<const std::int32_t> labels = set.labels();
    std::vector<float> weights(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        detail::need_class(labels[i], of_classes.size(), i, "class_weighted");
        weights[i] = of_classes[static_cast<std::size_t>(labels[i])];
    }
    shape row = of_labels->row;
    if (!set.is_slice()) return dataset(set).weights(row, std::move(weights));
    std::vector<std::int64_t> all(static_cast<std::size_t>(set.size()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    return gather(set, all).weights(row, std::move(weights));
}
#endif

} // namespace sinter::data
