// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// The class that a row of logits (or probabilities) votes for: the first of the largest. A NaN
/// never wins.
inline int predicted_class(const float* row, int classes) {
    int best = 0;
    for (int c = 1; c < classes; ++c)
        if (row[c] > row[best] || row[best] != row[best]) best = c;
    return best;
}

namespace detail {
/// Whether beats(x[i]) for any of n numbers. 32 at a time without a branch: compilers make vectors
/// of that.
template <class F>
inline bool any_beats(const float* x, int n, F beats) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        int count = 0;
        for (int k = 0; k < 32; ++k) count += beats(x[i + k]);
        if (count) return true;
    }
    for (; i < n; ++i)
        if (beats(x[i])) return true;
    return false;
}

[[noreturn]] SINTER_APART void refuse_label(std::int32_t label, int classes, const char* where);
} // namespace detail

/// Whether that class is `label`. Answered without looking for the largest, whose comparisons wait
/// for each other: training asks this of every example.
inline bool predicts(const float* row, int classes, std::int32_t label) {
    const float mine = row[label];
    return mine == mine && !detail::any_beats(row, label, [=](float x) { return x >= mine; }) &&
           !detail::any_beats(row + label + 1, classes - label - 1, [=](float x) { return x > mine; });
}

/// data_error unless 0 <= label < classes.
inline void need_label(std::int32_t label, int classes, const char* where) {
    if (label < 0 || label >= classes) detail::refuse_label(label, classes, where);
}

/// Share of the examples whose class is predicted right.
class accuracy {
public:
    static constexpr const char* name = "accuracy";
    /// `logits` [n, classes], `labels` [n]; data_error for labels out of range.
    void add(const float* logits, const std::int32_t* labels, std::int64_t n, int classes) {
        for (std::int64_t i = 0; i < n; ++i) need_label(labels[i], classes, "accuracy");
        for (std::int64_t i = 0; i < n; ++i) right_ += predicts(logits + i * classes, classes, labels[i]);
        count_ += n;
    }
    void add_counts(std::int64_t right, std::int64_t count) {   ///< of elsewhere
        right_ += right;
        count_ += count;
    }
    void merge(const accuracy& other) { add_counts(other.right_, other.count_); }
    void state(auto& s) { s("right", right_)("count", count_); }   ///< for checkpoints (train/hooks/hook_state.hpp)
    /// In [0, 1]; NaN as long as nothing was added.
    double value() const { return static_cast<double>(right_) / static_cast<double>(count_); }
    std::int64_t right() const { return right_; }
    std::int64_t count() const { return count_; }

private:
    std::int64_t right_ = 0, count_ = 0;
};

#if SINTER_BODIES
namespace detail {
SINTER_COLD SINTER_APART void refuse_label(std::int32_t label, int classes, const char* where) {
    throw data_error("label out of range", where, to_text({label}), to_text({"0 to ", classes - 1}));
}
} // namespace detail
#endif

} // namespace sinter::metrics
