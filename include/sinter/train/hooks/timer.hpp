// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// When it is time for something: every so many steps, or every so many seconds.
class step_timer {
public:
    /// option_error for less than nothing, for both, and for neither.
    SINTER_APART SINTER_COLD step_timer(std::int64_t steps, double seconds, const char* hook, double (*clock)());
    SINTER_APART void begin();
    /// Seconds count from now on.
    void restart() { last_ = clock_(); }
    /// Is it time, behind step `n`? Steps count from the model's first, so that a resumed run has
    /// them where it would have. Where several processes count them, some are passed over.
    SINTER_APART bool due(std::int64_t n);

private:
    std::int64_t steps_, seen_ = -1;
    double seconds_, last_ = 0;
    double (*clock_)();
};

} // namespace sinter::training_parts

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART step_timer::step_timer(std::int64_t steps, double seconds, const char* hook, double (*clock)())
    : steps_(steps), seconds_(seconds), clock_(clock) {
    if (steps < 0 || !(seconds >= 0))
        throw option_error("steps or seconds between two times", hook,
                           steps < 0 ? std::to_string(steps) : base::number_text(seconds), "0 or more");
    if ((steps > 0) == (seconds > 0))
        throw option_error("when it is time", hook, steps > 0 ? "steps and seconds" : "neither steps nor seconds",
                           "either every_steps or every_seconds");
}
SINTER_APART void step_timer::begin() {
    last_ = clock_();
    seen_ = -1;
}
SINTER_APART bool step_timer::due(std::int64_t n) {
    if (steps_ > 0) {
        const std::int64_t before = seen_ < 0 || seen_ >= n ? n - 1 : seen_;
        seen_ = n;
        return n / steps_ > before / steps_;
    }
    const double now = clock_();
    if (now - last_ < seconds_) return false;
    last_ = now;
    return true;
}

} // namespace sinter::training_parts
#endif
