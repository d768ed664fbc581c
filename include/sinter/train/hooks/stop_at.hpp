// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/train/hooks/hook.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// What stop_at may be given.
struct stop_at_options {
    std::int64_t step = 0;   ///< the model's number of steps, those before a resumed run included; 0: no limit
    double seconds = 0;      ///< of this call; 0: no limit. Of several members the first whose time is up stops all
    /// A loss, the epoch's mean so far, above which training is given up: it has gone astray though
    /// all is finite.
    double loss_above = std::numeric_limits<double>::infinity();
    double (*clock)() = base::monotonic_seconds;
};

/// Ends training at a step, behind the step in which time is up, or where the loss grows beyond a
/// bound.
class stop_at {
public:
    explicit stop_at(stop_at_options o) : o_(o) {
        if (o.step < 0) throw option_error("number of steps", "stop_at", to_text({o.step}), "0 or more");
        if (o.loss_above != o.loss_above) throw option_error("greatest loss", "stop_at", "nan", "a number or infinity");
        if (!(o.seconds >= 0)) throw option_error("seconds", "stop_at", base::number_text(o.seconds), "0 or more");
    }
    SINTER_COLD void begin(training_run& run) {
        began_ = o_.seconds > 0 ? o_.clock() : 0;
        if (o_.step > 0 && run.step >= o_.step) run.stop("stop_at: step");
    }
    void after_step(training_run& run, const batch_view&) {
        if (o_.step > 0 && run.step >= o_.step) run.stop("stop_at: step");
        if (o_.seconds > 0 && o_.clock() - began_ >= o_.seconds) run.ask_to_stop("stop_at: seconds");
        if (run.result.loss > o_.loss_above) run.stop_by_loss("stop_at: loss");
    }
    void describe(description& d) const { d("step", o_.step)("loss_above", o_.loss_above); }   // clocks may differ

private:
    stop_at_options o_;
    double began_ = 0;
};

} // namespace sinter
