// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/metrics/binary_counts.hpp>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// Share of yes-or-no decisions that are right (Keras' BinaryAccuracy): binary_accuracy{} of
/// probabilities, binary_accuracy{0.f} of logits.
class binary_accuracy : public binary_counts {
public:
    static constexpr const char* name = "binary_accuracy";
    using binary_counts::binary_counts;
    /// In [0, 1]; NaN as long as nothing was added.
    double value() const {
        return static_cast<double>(true_positives() + true_negatives()) / static_cast<double>(count());
    }
};

} // namespace sinter::metrics
