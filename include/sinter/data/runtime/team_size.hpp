// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#if SINTER_BODIES
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// How many threads are of use to a team that makes batches (runtime/row_team.hpp), from what the threads and the
/// caller have measured.
///
/// By Little's law: as many rows are being made at a time as the caller would take in a second, if it never waited,
/// times the seconds that one takes. These are the lower quartile of what was measured lately: their mean has the
/// waiting for cores in it that too many threads cause, and would ask for still more. No more threads than keep
/// `cpu_budget` cores busy: threads that wait, for files say, may be more than cores. At most four times as many at
/// once, so that one odd measurement does no harm.
class team_size {
public:
    team_size(int cpu_budget, int most) : cpu_budget_(cpu_budget), most_(most) {}

    /// A thread has made so many rows in `seconds` by the clock, in which it has had a processor for `busy` of them.
    SINTER_SELDOM void add(int rows, double seconds, double busy);
    /// The caller has had so many rows in `seconds` by the clock, of which it has waited for them for `waited`. What
    /// threads have measured since the last call is used, and forgotten but for the times of single rows.
    SINTER_SELDOM int next(std::int64_t rows, double seconds, double waited);
    int now() const { return now_; }
    double row_seconds() const { return row_seconds_; }   ///< the lower quartile when next() was called

private:
    static constexpr unsigned kept = 64;

    int cpu_budget_, most_, now_ = 1;
    double times_[kept] = {}, seconds_ = 0, busy_ = 0, row_seconds_ = 0;
    unsigned seen_ = 0;
    std::int64_t rows_ = 0;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void team_size::add(int rows, double seconds, double busy) {
    times_[seen_++ % kept] = seconds / rows;
    seconds_ += seconds;
    busy_ += busy;
    rows_ += rows;
}

SINTER_SELDOM_BODY int team_size::next(std::int64_t rows, double seconds, double waited) {
    if (rows_ == 0) return now_;
    double sorted[kept];
    const unsigned n = seen_ < kept ? seen_ : kept;
    std::copy(times_, times_ + n, sorted);
    std::nth_element(sorted, sorted + n / 4, sorted + n);
    row_seconds_ = sorted[n / 4];
    const double demand = static_cast<double>(rows) / std::max(seconds - waited, 1e-6);
    const double wanted = 1.15 * demand * row_seconds_ + 1;   // a little more than on average, since it varies
    const double useful = std::max(1., cpu_budget_ * seconds_ / std::max(busy_, 1e-9) + 0.5);
    const double most = std::min(4. * now_, static_cast<double>(most_));
    now_ = static_cast<int>(std::clamp(std::min(wanted, useful), 1., most));
    seconds_ = busy_ = 0;
    rows_ = 0;
    return now_;
}
#endif

} // namespace sinter::data
