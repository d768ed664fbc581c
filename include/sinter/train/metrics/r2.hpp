// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <cstdint>
#include <vector>

namespace sinter::metrics {

/// Coefficient of determination: 1 - (sum of squared errors) / (sum of squared distances of the targets from their mean), for
/// each column of the targets; their plain average over columns (scikit-learn's r2_score, Keras' R2Score). 1 is perfect, 0 is
/// no better than the mean. Means are updated as they come and merged by Chan et al.'s formula (1979), so that targets far from
/// zero lose no digits.
class r2 {
public:
    /// `columns`: numbers an example. option_error unless at least 1.
    explicit r2(int columns = 1) {
        if (columns < 1) throw option_error("number of columns", "r2", std::to_string(columns), "at least 1");
        columns_.resize(static_cast<std::size_t>(columns));
    }
    /// `predictions` and `targets` [n, columns].
    void add(const float* predictions, const float* targets, int n) {
        for (int i = 0; i < n; ++i) {
            ++count_;
            for (column& c : columns_) {
                const double t = static_cast<double>(*targets++), e = static_cast<double>(*predictions++) - t, d = t - c.mean;
                c.errors += e * e;
                c.mean += d / static_cast<double>(count_);
                c.distances += d * (t - c.mean);
            }
        }
    }
    /// data_error if the other one has another number of columns.
    void merge(const r2& other) {
        if (other.columns_.size() != columns_.size())
            throw data_error("metrics of different numbers of columns", "r2", std::to_string(other.columns_.size()),
                             std::to_string(columns_.size()));
        if (other.count_ == 0) return;
        const double mine = static_cast<double>(count_), theirs = static_cast<double>(other.count_), all = mine + theirs;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            column& c = columns_[i];
            const column& o = other.columns_[i];
            const double d = o.mean - c.mean;
            c.errors += o.errors;
            c.distances += o.distances + d * d * (mine / all) * theirs;
            c.mean += d * (theirs / all);
        }
        count_ += other.count_;
    }
    /// At most 1; NaN as long as nothing was added. Where a column's targets are all equal it is -infinity, or NaN if they are
    /// all met (scikit-learn says 0 and 1).
    double value() const {
        double sum = 0;
        for (const column& c : columns_) sum += 1 - c.errors / c.distances;
        return sum / static_cast<double>(columns_.size());
    }
    std::int64_t count() const { return count_; }   ///< examples

private:
    struct column {
        double errors = 0, distances = 0, mean = 0;   // the first two are sums of squares
    };
    std::vector<column> columns_;
    std::int64_t count_ = 0;
};

} // namespace sinter::metrics
