// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/metrics/mean.hpp>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// Mean squared error over all numbers; its root is the RMSE.
class mse {
public:
    static constexpr const char* name = "mse";
    static constexpr bool falls = true;   ///< less is better
    /// `predictions` and `targets`, n numbers each.
    SINTER_SELDOM void add(const float* predictions, const float* targets, std::int64_t n);
    void merge(const mse& other) { errors_.merge(other.errors_); }
    void state(auto& s) { s("errors", errors_); }   ///< what it has counted (train/metrics/metric.hpp)
    /// NaN as long as nothing was added.
    double value() const { return errors_.value(); }
    std::int64_t count() const { return errors_.count(); }

private:
    mean errors_;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void mse::add(const float* predictions, const float* targets, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const double d = static_cast<double>(predictions[i]) - static_cast<double>(targets[i]);
        errors_.add(d * d);
    }
}
#endif

} // namespace sinter::metrics
