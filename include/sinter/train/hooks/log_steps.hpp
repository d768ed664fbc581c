// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/hook.hpp>
#include <sinter/train/hooks/timer.hpp>
#include <sinter/train/progress_line.hpp>
#include <cstdio>

namespace sinter::inline SINTER_ORDINARY {

/// What log_steps may be given.
struct log_steps_options {
    std::int64_t every_steps = 0;   ///< by the model's number of steps
    double every_seconds = 0;       ///< one of both is given
    std::FILE* out = stderr;   ///< null: silence
    double (*clock)() = base::monotonic_seconds;
};

/// Writes a line now and then: "step 300: loss 0.4125 (2.31 s)". The loss is the last batch's, the
/// time that since the line before (tf.estimator's LoggingTensorHook). The chief alone writes.
class log_steps {
public:
    /// option_error unless either steps or seconds are given.
    explicit log_steps(log_steps_options o) : o_(o), timer_(o.every_steps, o.every_seconds, "log_steps", o.clock) {}
    SINTER_COLD void begin(training_run&) {
        timer_.begin();
        last_ = o_.clock();
    }
    void after_step(training_run& run, const batch_view&) {
        if (!timer_.due(run.step)) return;
        const double now = o_.clock();   // of all members: whoever becomes the chief goes on with it
        if (run.chief && o_.out) write(run, now - last_);
        last_ = now;
    }

private:
    log_steps_options o_;
    training_parts::step_timer timer_;
    double last_ = 0;

    SINTER_COLD void write(const training_run& run, double seconds) {
        std::fprintf(o_.out, "step %lld: loss %s (%s s)\n", static_cast<long long>(run.step),
                     training_parts::four_decimals(static_cast<double>(run.loss)).c_str(),
                     training_parts::four_decimals(seconds).c_str());
        std::fflush(o_.out);
    }
};

} // namespace sinter
