// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/number_text.hpp>
#include <sinter/train/hooks/monitor.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// What reduce_on_plateau may be given.
struct plateau_options {
    watched what = watched::validation_loss;
    float factor = 0.1f;         ///< the rate is multiplied by this
    int patience = 10;           ///< after so many epochs without a better value
    double min_delta = 1e-4;     ///< a change by no more than this is none
    int cooldown = 0;            ///< epochs after a reduction in which none are counted
    float min_rate = 0;          ///< the rate does not fall below this
    const char* monitor = "";   ///< what is watched instead, by its name: "val_f1" (epoch_result::value)
};

/// Lowers the learning rate where what is watched no longer becomes better (Keras'
/// ReduceLROnPlateau). For optimizers with a learning_rate that is a number; option_error where it
/// is a schedule. The rate and what was counted are part of a saved run.
class reduce_on_plateau {
public:
    static constexpr const char* name = "reduce_on_plateau";
    explicit reduce_on_plateau(plateau_options o = {}) : o_(o), monitor_(o.what, o.min_delta, name, o.monitor) {
        if (!(o.factor > 0 && o.factor < 1))
            throw option_error("factor", name, base::number_text(o.factor), "between 0 and 1");
        if (o.patience < 0 || o.cooldown < 0)
            throw option_error("patience or cooldown", name, joined({o.patience, ", ", o.cooldown}),
                               "0 or more epochs");
    }
    template <class Run>
    SINTER_COLD void begin(Run& run) {
        schedule& rate = rate_of(run);
        if (rate.at_step || rate.custom || rate.warmup)
            throw option_error("the learning rate is a schedule", name, "a schedule", "a number");
        if (run.resumed) rate.peak = rate_;
        rate_ = rate.peak;
    }
    template <class Run>
    SINTER_COLD void epoch_end(Run& run) {
        if (run.lost) return;   // nothing was measured, and it ends anyhow
        const double x = monitor_.of(run.result);
        float& rate = rate_of(run).peak;
        if (cooldown_ > 0) --cooldown_, wait_ = 0;
        if (monitor_.better(x)) wait_ = 0;
        else if (cooldown_ == 0 && ++wait_ >= o_.patience && rate > o_.min_rate) {
            const float lower = rate * o_.factor;
            rate = lower > o_.min_rate ? lower : o_.min_rate;
            ++reductions_;
            cooldown_ = o_.cooldown;
            wait_ = 0;
        }
        rate_ = rate;
    }
    void state(auto& s) {
        s("rate", rate_)("wait", wait_)("cooldown", cooldown_)("reductions", reductions_)("watched", monitor_);
    }

    void describe(description& d) const {
        monitor_.describe(d);
        d("factor", o_.factor)("patience", o_.patience)("cooldown", o_.cooldown)("min_rate", o_.min_rate);
    }

    float rate() const { return rate_; }
    int reductions() const { return reductions_; }

private:
    plateau_options o_;
    detail::monitor monitor_;
    float rate_ = 0;   ///< as this hook left it
    int wait_ = 0, cooldown_ = 0, reductions_ = 0;

    template <class Run>
    static schedule& rate_of(Run& run) {
        constexpr bool has_one = requires { run.model.optimizer().learning_rate.peak; };
        static_assert(has_one, "reduce_on_plateau: the optimizer has no learning_rate of its own");
        return run.model.optimizer().learning_rate;
    }
};

} // namespace sinter
