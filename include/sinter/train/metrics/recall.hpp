// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/metrics/binary_counts.hpp>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// Share of the positive examples that were found: tp / (tp + fn).
class recall : public binary_counts {
public:
    static constexpr const char* name = "recall";
    using binary_counts::binary_counts;
    /// In [0, 1]; NaN where it would divide by nothing (Keras and scikit-learn say 0 there).
    double value() const {
        return static_cast<double>(true_positives()) / static_cast<double>(true_positives() + false_negatives());
    }
};

} // namespace sinter::metrics
