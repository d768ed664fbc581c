// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/number_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/error.hpp>
#include <sinter/train/metrics/probability.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// Yes-or-no decisions against the truth: what precision, recall and F1 are made of. An example is
/// decided positive where its score is above the threshold: 0.5 suits probabilities, and what a net
/// with a loss like mse says of targets 0 and 1; 0 suits logits. A NaN is above nothing. Without a
/// threshold it is 0.5, and scores must be probabilities (as of Keras' Precision and Recall): logits
/// would be counted wrongly. With a threshold scores may be any.
class binary_counts {
public:
    binary_counts() : probabilities_(true) {}
    explicit binary_counts(float threshold) : threshold_(threshold) {}
    void describe(auto& d) const { d("threshold", threshold_); }   ///< base/description.hpp

    /// `scores` [n], `labels` [n], each 0 or 1; data_error otherwise, or where a score would have to
    /// be a probability and is below 0 or above 1 by more than rounding. Then nothing is counted.
    void add(const float* scores, const std::int32_t* labels, int n) { add_all(scores, labels, n); }
    /// The same with truths that are floats, 0 or 1: several labels an example, say.
    void add(const float* scores, const float* truths, int n) { add_all(scores, truths, n); }
    /// data_error if the other one decides at another threshold.
    SINTER_SELDOM void merge(const binary_counts& other);

    void state(auto& s) {   ///< what it has counted (train/metrics/metric.hpp)
        s("true_negatives", counts_[0][0])("false_positives", counts_[0][1])("false_negatives", counts_[1][0])(
            "true_positives", counts_[1][1]);
    }

    bool needs_probabilities() const { return probabilities_; }
    std::int64_t true_positives() const { return counts_[1][1]; }
    std::int64_t false_positives() const { return counts_[0][1]; }
    std::int64_t true_negatives() const { return counts_[0][0]; }
    std::int64_t false_negatives() const { return counts_[1][0]; }
    std::int64_t count() const { return counts_[0][0] + counts_[0][1] + counts_[1][0] + counts_[1][1]; }

private:
    template <class T>
    void add_all(const float* scores, const T* truths, int n) {
        for (int i = 0; i < n; ++i)
            if (truths[i] != T{0} && truths[i] != T{1})
                throw data_error("truth is neither 0 nor 1", "example " + std::to_string(i),
                                 base::number_text(truths[i]), "0 or 1");
        for (int i = 0; probabilities_ && i < n; ++i)
            if (!is_probability(scores[i]) && scores[i] == scores[i])
                throw data_error("score is no probability", "example " + std::to_string(i),
                                 base::number_text(scores[i]),
                                 "0 to 1, or a threshold: f1{0.f} for logits, f1{0.5f} for scores around 0 and 1");
        for (int i = 0; i < n; ++i) ++counts_[truths[i] == T{1}][scores[i] > threshold_];
    }
    float threshold_ = 0.5f;
    bool probabilities_ = false;
    std::int64_t counts_[2][2] = {};   // truth, decision
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void binary_counts::merge(const binary_counts& other) {
    if (other.threshold_ != threshold_)
        throw data_error("metrics of different thresholds", "binary_counts", base::number_text(other.threshold_),
                         base::number_text(threshold_));
    for (int t = 0; t < 2; ++t)
        for (int p = 0; p < 2; ++p) counts_[t][p] += other.counts_[t][p];
}
#endif

} // namespace sinter::metrics
