// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

/// Metrics are fed batch by batch, hold sums only, and merge: what several workers saw adds up to what one would have.
namespace sinter::metrics {

/// Weighted mean: of losses, with the number of examples in each batch as weight.
class mean {
public:
    void add(double value, std::int64_t weight = 1) {
        sum_ += value * static_cast<double>(weight);
        weight_ += weight;
    }
    void merge(const mean& other) {
        sum_ += other.sum_;
        weight_ += other.weight_;
    }
    /// NaN as long as nothing was added.
    double value() const { return sum_ / static_cast<double>(weight_); }
    std::int64_t count() const { return weight_; }

private:
    double sum_ = 0;
    std::int64_t weight_ = 0;
};

} // namespace sinter::metrics
