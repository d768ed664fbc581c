// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/monitor.hpp>

namespace sinter::inline SINTER_TARGET {

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
/// EarlyStopping; restoring the best weights is keep_best's). A hook: `train(data, {.after_epoch =
/// together(stop)})`, of the caller's that outlives the call.
class early_stop {
public:
    explicit early_stop(early_stop_options o = {}) : o_(o), monitor_(o.what, o.min_delta, "early_stop", o.monitor) {
        if (o.patience < 0)
            throw option_error("patience", "early_stop", std::to_string(o.patience), "0 or more epochs");
    }
    /// False: stop.
    bool operator()(const epoch_result& r) {
        const double x = monitor_.of(r);
        if (seen_++ < o_.start_from) return true;
        ++wait_;
        if (monitor_.better(x)) {
            best_epoch_ = r.epoch;
            const bool passed = monitor_.rises() ? x - o_.min_delta > o_.baseline : x + o_.min_delta < o_.baseline;
            if (passed || o_.baseline != o_.baseline) wait_ = 0;
            return true;
        }
        stopped_ = wait_ >= o_.patience && seen_ > 1;
        return !stopped_;
    }
    bool stopped() const { return stopped_; }
    double best() const { return monitor_.best(); }
    int best_epoch() const { return best_epoch_; }   ///< 0: none yet

private:
    early_stop_options o_;
    detail::monitor monitor_;
    int wait_ = 0, seen_ = 0, best_epoch_ = 0;
    bool stopped_ = false;
};

} // namespace sinter
