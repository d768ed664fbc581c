// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/separate_compilation.hpp>

namespace sinter::base {

/// When to say that something is waited for: first after a few seconds, then more and more rarely, in the end every
/// ten minutes.
class wait_notice {
public:
    explicit wait_notice(double first_seconds = 5) : first_(first_seconds) { begin(); }
    /// What is waited for has come, and now it is something else.
    SINTER_SELDOM void begin();
    SINTER_SELDOM double waited() const;   ///< seconds
    /// Whether it is time to say so; true once for each time.
    SINTER_SELDOM bool is_due();

private:
    double first_, began_ = 0, next_ = 0;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void wait_notice::begin() { began_ = monotonic_seconds(), next_ = first_; }

SINTER_SELDOM_BODY double wait_notice::waited() const { return monotonic_seconds() - began_; }

SINTER_SELDOM_BODY bool wait_notice::is_due() {
    const double now = waited();
    if (now < next_) return false;
    next_ = now * 6 < now + 600 ? now * 6 : now + 600;
    return true;
}
#endif

} // namespace sinter::base
