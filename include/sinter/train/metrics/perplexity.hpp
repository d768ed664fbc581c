// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/metrics/accuracy.hpp>
#include <sinter/train/metrics/mean.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// e to the mean cross entropy in nats: among how many equally likely symbols a model seems to
/// choose. The mean is over all symbols seen, so it is not the mean of batches' perplexities.
class perplexity {
public:
    static constexpr const char* name = "perplexity";
    static constexpr bool falls = true;   ///< less is better
    /// A batch's mean loss and the number of symbols that it is the mean of.
    void add(double mean_loss, std::int64_t symbols) { loss_.add(mean_loss, static_cast<double>(symbols)); }
    /// Symbols' `logits` [n, classes] and which they are, `labels` [n]; data_error for labels out
    /// of range, and then nothing is counted.
    SINTER_SELDOM void add(const float* logits, const std::int32_t* labels, int n, int classes);
    void merge(const perplexity& other) { loss_.merge(other.loss_); }
    void state(auto& s) { s("loss", loss_); }   ///< what it has counted (train/metrics/metric.hpp)
    /// At least 1, but for rounding; NaN as long as nothing was added.
    double value() const { return __builtin_exp(loss_.value()); }
    double loss() const { return loss_.value(); }
    std::int64_t count() const { return loss_.count(); }

private:
    SINTER_SELDOM static double cross_entropy(const float* row, std::int32_t label, int classes);
    mean loss_;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void perplexity::add(const float* logits, const std::int32_t* labels, int n, int classes) {
    for (int i = 0; i < n; ++i) need_label(labels[i], classes, "perplexity");
    for (std::int64_t i = 0; i < n; ++i) loss_.add(cross_entropy(logits + i * classes, labels[i], classes));
}

SINTER_SELDOM_BODY double perplexity::cross_entropy(const float* row, std::int32_t label, int classes) {
    const double most = static_cast<double>(row[predicted_class(row, classes)]);
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += __builtin_exp(static_cast<double>(row[c]) - most);
    return __builtin_log(sum) + most - static_cast<double>(row[label]);
}
#endif

} // namespace sinter::metrics
