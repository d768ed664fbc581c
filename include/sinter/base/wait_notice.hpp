// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>

namespace sinter::base {

/// When to say that something is waited for: first after a few seconds, then more and more rarely, in the end every
/// ten minutes.
class wait_notice {
public:
    explicit wait_notice(double first_seconds = 5) : first_(first_seconds) { begin(); }
    /// What is waited for has come, and now it is something else.
    void begin() { began_ = monotonic_seconds(), next_ = first_; }
    double waited() const { return monotonic_seconds() - began_; }   ///< seconds
    /// Whether it is time to say so; true once for each time.
    bool is_due() {
        const double now = waited();
        if (now < next_) return false;
        next_ = now * 6 < now + 600 ? now * 6 : now + 600;
        return true;
    }

private:
    double first_, began_ = 0, next_ = 0;
};

} // namespace sinter::base
