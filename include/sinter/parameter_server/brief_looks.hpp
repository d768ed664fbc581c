// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/os/processors.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Whether whoever waits for a message looks again at once, or sleeps until something comes. An
/// answer within microseconds needs no sleep, and meanwhile the core is left to the others. But
/// where they compute, one who yields gets it back after their whole slice of time, milliseconds
/// later, and one who sleeps as soon as the message is there: so after a yield that took long,
/// there is none for a while.
class brief_looks {
public:
    /// After `looks` looks that found nothing: true once others have had the core, false: sleep.
    bool again(int looks) {
        if (looks >= most) return false;
        const double before = base::monotonic_seconds();
        if (before < resume_) return false;
        base::yield_core();
        const double after = base::monotonic_seconds();
        if (after - before > long_yield) {
            resume_ = after + pause_;
            pause_ = std::min(2 * pause_, 1.0);
        } else {
            pause_ = std::max(pause_ / 2, least_pause);
        }
        return true;
    }

private:
    static constexpr int most = 3;
    static constexpr double long_yield = 300e-6, least_pause = 20e-3;   // seconds
    double resume_ = 0, pause_ = least_pause;
};

} // namespace sinter::parameter_servers
