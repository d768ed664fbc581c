// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/train/metrics/mean.hpp>

namespace sinter::inline SINTER_TARGET::metrics {

/// e to the mean cross entropy in nats: among how many equally likely symbols a model seems to choose. The mean is over all
/// symbols seen, so it is not the mean of batches' perplexities.
class perplexity {
public:
    /// A batch's mean loss and the number of symbols that it is the mean of.
    void add(double mean_loss, std::int64_t symbols) { loss_.add(mean_loss, static_cast<double>(symbols)); }
    void merge(const perplexity& other) { loss_.merge(other.loss_); }
    /// At least 1, but for rounding; NaN as long as nothing was added.
    double value() const { return __builtin_exp(loss_.value()); }
    double loss() const { return loss_.value(); }
    std::int64_t count() const { return loss_.count(); }

private:
    mean loss_;
};

} // namespace sinter::metrics
