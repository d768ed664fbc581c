// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

namespace sinter::metrics {

/// Mean squared error over all numbers; its root is the RMSE.
class mse {
public:
    /// `predictions` and `targets`, n numbers each.
    void add(const float* predictions, const float* targets, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
            const double d = static_cast<double>(predictions[i]) - static_cast<double>(targets[i]);
            sum_ += d * d;
        }
        count_ += n;
    }
    void merge(const mse& other) {
        sum_ += other.sum_;
        count_ += other.count_;
    }
    /// NaN as long as nothing was added.
    double value() const { return sum_ / static_cast<double>(count_); }
    std::int64_t count() const { return count_; }

private:
    double sum_ = 0;
    std::int64_t count_ = 0;
};

} // namespace sinter::metrics
