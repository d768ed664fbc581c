// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/error.hpp>
#include <cstdint>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// Coefficient of determination: 1 - (sum of squared errors) / (sum of squared distances of the
/// targets from their mean), for each column of the targets; their plain average over columns
/// (scikit-learn's r2_score, Keras' R2Score). 1 is perfect, 0 is no better than the mean. Means are
/// updated as they come and merged by Chan et al.'s formula (1979), so that targets far from zero
/// lose no digits.
class r2 {
public:
    static constexpr const char* name = "r2";
    /// `columns`: numbers an example. option_error unless at least 1.
    SINTER_APART explicit r2(int columns = 1);
    /// `predictions` and `targets` [n, columns].
    SINTER_SELDOM void add(const float* predictions, const float* targets, int n);
    /// data_error if the other one has another number of columns.
    SINTER_SELDOM void merge(const r2& other);
    static constexpr bool adds_up = false;   ///< members' states are merged
    void state(auto& s) {                    ///< what it has counted (train/metrics/metric.hpp)
        s("errors", errors_)("distances", distances_)("means", means_)("count", count_);
    }
    /// At most 1; NaN as long as nothing was added. Where a column's targets are all equal it is
    /// -infinity, or NaN if they are all met (scikit-learn says 0 and 1).
    SINTER_SELDOM double value() const;
    std::int64_t count() const { return count_; }   ///< examples
    int columns() const { return static_cast<int>(errors_.size()); }

private:
    std::vector<double> errors_, distances_, means_;   // of each column; the first two are sums of squares
    std::int64_t count_ = 0;
};

#if SINTER_BODIES
SINTER_APART r2::r2(int columns) {
    if (columns < 1) throw option_error("number of columns", "r2", std::to_string(columns), "at least 1");
    errors_ = distances_ = means_ = std::vector<double>(static_cast<std::size_t>(columns));
}

SINTER_SELDOM_BODY void r2::add(const float* predictions, const float* targets, int n) {
    for (int i = 0; i < n; ++i) {
        ++count_;
        for (std::size_t c = 0; c < errors_.size(); ++c) {
            const double t = static_cast<double>(*targets++), e = static_cast<double>(*predictions++) - t,
                         d = t - means_[c];
            errors_[c] += e * e;
            means_[c] += d / static_cast<double>(count_);
            distances_[c] += d * (t - means_[c]);
        }
    }
}

SINTER_SELDOM_BODY void r2::merge(const r2& other) {
    if (other.errors_.size() != errors_.size())
        throw data_error("metrics of different numbers of columns", "r2", std::to_string(other.errors_.size()),
                         std::to_string(errors_.size()));
    if (other.count_ == 0) return;
    const double mine = static_cast<double>(count_), theirs = static_cast<double>(other.count_),
                 all = mine + theirs;
    for (std::size_t c = 0; c < errors_.size(); ++c) {
        const double d = other.means_[c] - means_[c];
        errors_[c] += other.errors_[c];
        distances_[c] += other.distances_[c] + d * d * (mine / all) * theirs;
        means_[c] += d * (theirs / all);
    }
    count_ += other.count_;
}

SINTER_SELDOM_BODY double r2::value() const {
    double sum = 0;
    for (std::size_t c = 0; c < errors_.size(); ++c) sum += 1 - errors_[c] / distances_[c];
    return sum / static_cast<double>(errors_.size());
}
#endif

} // namespace sinter::metrics
