// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/metrics/accuracy.hpp>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// How often examples of each class (row) were taken for each class (column).
class confusion_matrix {
public:
    static constexpr const char* name = "confusion_matrix";
    explicit confusion_matrix(int classes)
        : classes_(classes), counts_(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes)) {}

    /// `logits` [n, classes], `labels` [n]; data_error for labels out of range, and then nothing is
    /// counted.
    SINTER_SELDOM void add(const float* logits, const std::int32_t* labels, int n);
    /// The same, where `classes` are those of this matrix; data_error otherwise.
    SINTER_SELDOM void add(const float* logits, const std::int32_t* labels, int n, int classes);
    /// One example whose predicted class is already known.
    SINTER_SELDOM void add(std::int32_t truth, std::int32_t predicted);
    /// data_error if the other one has another number of classes.
    SINTER_SELDOM void merge(const confusion_matrix& other);

    void state(auto& s) { s("counts", counts_); }   ///< what it has counted (train/metrics/metric.hpp)
    int classes() const { return classes_; }
    std::int64_t count(int truth, int predicted) const { return counts_[index(truth, predicted)]; }
    SINTER_SELDOM std::int64_t examples(int truth) const;
    /// Share of the examples on the diagonal; this and the two below are NaN where they would
    /// divide by nothing.
    SINTER_SELDOM double accuracy() const;
    double value() const { return accuracy(); }
    /// Share of the examples of class c that were recognised.
    double recall(int c) const { return static_cast<double>(count(c, c)) / static_cast<double>(examples(c)); }
    /// Share of what was taken for class c that really is.
    SINTER_SELDOM double precision(int c) const;

private:
    std::size_t index(int t, int p) const {
        return static_cast<std::size_t>(t) * static_cast<std::size_t>(classes_) + static_cast<std::size_t>(p);
    }
    std::int64_t& at(int t, int p) { return counts_[index(t, p)]; }

    int classes_;
    std::vector<std::int64_t> counts_;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void confusion_matrix::add(const float* logits, const std::int32_t* labels, int n) {
    for (int i = 0; i < n; ++i) need_label(labels[i], classes_, "confusion_matrix");
    for (int i = 0; i < n; ++i)
        ++at(labels[i], predicted_class(logits + static_cast<std::int64_t>(i) * classes_, classes_));
}

SINTER_SELDOM_BODY void confusion_matrix::add(const float* logits, const std::int32_t* labels, int n, int classes) {
    if (classes != classes_)
        throw data_error("the scores are of another number of classes", "confusion_matrix", std::to_string(classes),
                         std::to_string(classes_));
    add(logits, labels, n);
}

SINTER_SELDOM_BODY void confusion_matrix::add(std::int32_t truth, std::int32_t predicted) {
    need_label(truth, classes_, "confusion_matrix, truth");
    need_label(predicted, classes_, "confusion_matrix, prediction");
    ++at(truth, predicted);
}

SINTER_SELDOM_BODY void confusion_matrix::merge(const confusion_matrix& other) {
    if (other.classes_ != classes_)
        throw data_error("matrices differ in their classes", "confusion_matrix", std::to_string(other.classes_),
                         std::to_string(classes_));
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

SINTER_SELDOM_BODY std::int64_t confusion_matrix::examples(int truth) const {   ///< of this class
    std::int64_t n = 0;
    for (int p = 0; p < classes_; ++p) n += count(truth, p);
    return n;
}

SINTER_SELDOM_BODY double confusion_matrix::accuracy() const {
    std::int64_t right = 0, all = 0;
    for (int c = 0; c < classes_; ++c) right += count(c, c), all += examples(c);
    return static_cast<double>(right) / static_cast<double>(all);
}

SINTER_SELDOM_BODY double confusion_matrix::precision(int c) const {
    std::int64_t n = 0;
    for (int t = 0; t < classes_; ++t) n += count(t, c);
    return static_cast<double>(count(c, c)) / static_cast<double>(n);
}
#endif

} // namespace sinter::metrics
