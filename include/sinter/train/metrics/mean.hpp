// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

/// Metrics are fed batch by batch, hold sums only, and merge: what several workers saw adds up to
/// what one would have.
namespace sinter::inline SINTER_ORDINARY::metrics {

/// Weighted mean: of losses, with what each batch counts as weight, its number of examples or the
/// sum of their weights.
class mean {
public:
    void add(double value, double weight = 1) {
        sum_ += value * weight;
        weight_ += weight;
    }
    /// A mean as losses are: sum / weight, or, where weights cancel or there are none, the sum.
    void add_mean(double value, double weight) {
        sum_ += value * (weight == 0 ? 1 : weight);
        weight_ += weight;
    }
    double of_sum() const { return sum_ / (weight_ == 0 ? 1 : weight_); }   ///< of all together, likewise
    void merge(const mean& other) {
        sum_ += other.sum_;
        weight_ += other.weight_;
    }
    void state(auto& s) { s("sum", sum_)("weight", weight_); }   ///< for checkpoints (train/hooks/hook_state.hpp)
    /// NaN as long as nothing was added that counts.
    double value() const { return sum_ / weight_; }
    double weight() const { return weight_; }   ///< of all together
    std::int64_t count() const {
        return static_cast<std::int64_t>(weight_);
    }   ///< the same, of weights that are numbers of examples

private:
    double sum_ = 0, weight_ = 0;
};

} // namespace sinter::metrics
