// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/metrics/binary_counts.hpp>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// The harmonic mean of precision and recall: 2 tp / (2 tp + fp + fn).
class f1 : public binary_counts {
public:
    static constexpr const char* name = "f1";
    using binary_counts::binary_counts;
    /// In [0, 1]; NaN where it would divide by nothing (Keras and scikit-learn say 0 there).
    double value() const {
        return static_cast<double>(2 * true_positives()) /
               static_cast<double>(2 * true_positives() + false_positives() + false_negatives());
    }
};

} // namespace sinter::metrics
