// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/metrics/accuracy.hpp>
#include <limits>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// Share of the examples whose class is among the k that score highest (Keras'
/// SparseTopKCategoricalAccuracy). Of equal scores the first ones come first, so that k = 1 is
/// accuracy; TensorFlow's in_top_k lets all of a tie in instead. A NaN is never among them.
class top_k {
public:
    static constexpr const char* name = "top_k";
    /// option_error unless k >= 1.
    explicit top_k(int k) : k_(k) {
        if (k < 1) throw option_error("number of classes to look at", "top_k", std::to_string(k), "at least 1");
    }
    /// `logits` [n, classes], `labels` [n]; data_error for labels out of range, and then nothing is
    /// counted.
    SINTER_SELDOM void add(const float* logits, const std::int32_t* labels, int n, int classes);
    /// data_error if the other one looks at another number of classes.
    SINTER_SELDOM void merge(const top_k& other);
    int least_classes() const { return k_; }   ///< of fewer all are among the k
    void state(auto& s) { s("right", right_)("count", count_); }   ///< what it has counted (train/metrics/metric.hpp)
    /// In [0, 1]; NaN as long as nothing was added.
    double value() const { return static_cast<double>(right_) / static_cast<double>(count_); }
    std::int64_t count() const { return count_; }
    void describe(auto& d) const { d("k", k_); }   ///< base/description.hpp

private:
    /// How many classes come before the label's.
    SINTER_SELDOM static int place(const float* row, int classes, std::int32_t label);
    int k_;
    std::int64_t right_ = 0, count_ = 0;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void top_k::add(const float* logits, const std::int32_t* labels, int n, int classes) {
    for (int i = 0; i < n; ++i) need_label(labels[i], classes, "top_k");
    for (int i = 0; i < n; ++i)
        right_ += place(logits + static_cast<std::int64_t>(i) * classes, classes, labels[i]) < k_;
    count_ += n;
}

SINTER_SELDOM_BODY void top_k::merge(const top_k& other) {
    if (other.k_ != k_)
        throw data_error("metrics of different k", "top_k", std::to_string(other.k_), std::to_string(k_));
    right_ += other.right_;
    count_ += other.count_;
}

SINTER_SELDOM_BODY int top_k::place(const float* row, int classes, std::int32_t label) {
    const float mine = row[label];
    if (mine != mine) return std::numeric_limits<int>::max();   // also where k is not below the number of classes
    int before = 0;
    for (int c = 0; c < label; ++c) before += row[c] >= mine;
    for (int c = label + 1; c < classes; ++c) before += row[c] > mine;
    return before;
}
#endif

} // namespace sinter::metrics
