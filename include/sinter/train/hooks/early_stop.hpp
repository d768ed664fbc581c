// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/monitor.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// What early_stop may be given.
struct early_stop_options {
    watched what = watched::validation_loss;
    double min_delta = 0;          ///< a change by no more than this is none
    int patience = 0;              ///< epochs without a better value before the last one
    int start_from = 0;            ///< so many epochs are not looked at
    /// What must be passed for patience to begin anew; NaN: nothing.
    double baseline = std::numeric_limits<double>::quiet_NaN();
    const char* monitor = "";   ///< what is watched instead, by its name: "val_f1" (epoch_result::value)
};

/// Ends training when what is watched has not become better for `patience` epochs (Keras'
/// EarlyStopping; restoring the best weights is keep_best's). A hook: `train(data, options, stop)`.
/// What it has counted is part of a saved run; a second call of train() goes on counting. option_error
/// before the first step where nobody measures what is watched. In train_and_evaluate it is measured
/// at each epoch's end as eval_spec says, for this hook, unless an evaluator does that elsewhere.
class early_stop {
public:
    static constexpr const char* name = "early_stop";
    SINTER_APART explicit early_stop(early_stop_options o = {});
    SINTER_COLD void check_run(training_run& run) { monitor_.check_run(run); }
    /// A run that had ended goes on where patience is now longer than what had passed.
    SINTER_APART SINTER_COLD void begin(training_run& run);
    SINTER_APART SINTER_COLD void epoch_end(training_run& run);
    SINTER_COLD void state(hook_state& s) {
        s("wait", wait_)("seen", seen_)("best_epoch", best_epoch_)("stopped", stopped_)("watched", monitor_);
    }
    SINTER_APART void describe(description& d) const;
    bool stopped() const { return stopped_; }
    double best() const { return monitor_.best(); }
    int best_epoch() const { return best_epoch_; }   ///< 0: none yet

private:
    early_stop_options o_;
    training_parts::monitor monitor_;
    int wait_ = 0, seen_ = 0, best_epoch_ = 0;
    bool stopped_ = false;
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_APART early_stop::early_stop(early_stop_options o)
    : o_(o), monitor_(o.what, o.min_delta, "early_stop", o.monitor) {
    if (o.patience < 0)
        throw option_error("patience", "early_stop", std::to_string(o.patience), "0 or more epochs");
}
SINTER_APART void early_stop::begin(training_run& run) {
    stopped_ = stopped_ && run.resumed && wait_ >= o_.patience;
    if (stopped_) run.stop(name);
}
SINTER_APART void early_stop::epoch_end(training_run& run) {
    if (run.lost) return;   // nothing was measured, and it ends anyhow
    const epoch_result& r = run.result;
    const double x = monitor_.of(r);
    if (seen_++ < o_.start_from) return;
    ++wait_;
    if (monitor_.better(x)) {
        best_epoch_ = r.epoch;
        const bool passed = monitor_.rises() ? x - o_.min_delta > o_.baseline : x + o_.min_delta < o_.baseline;
        if (passed || o_.baseline != o_.baseline) wait_ = 0;
        return;
    }
    stopped_ = wait_ >= o_.patience && seen_ > 1;
    if (stopped_) run.stop(name);
}
SINTER_APART void early_stop::describe(description& d) const {
    monitor_.describe(d);
    d("patience", o_.patience)("start_from", o_.start_from)("baseline", o_.baseline);
}

} // namespace sinter
#endif
