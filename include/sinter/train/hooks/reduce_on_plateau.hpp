// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/number_text.hpp>
#include <sinter/train/hooks/monitor.hpp>
#include <sinter/train/loop_run.hpp>
#include <concepts>

namespace sinter::inline SINTER_ORDINARY {

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
/// ReduceLROnPlateau). For optimizers with a learning_rate that is a number, theirs or that of what
/// they wrap (clip_by_global_norm, accumulate, moving_average, ...); of parameter_groups each rate is
/// multiplied (as PyTorch's ReduceLROnPlateau). option_error where one is a schedule, or nobody measures
/// what is watched. Rates and what was counted are part of a saved run.
class reduce_on_plateau {
public:
    static constexpr const char* name = "reduce_on_plateau";
    SINTER_APART explicit reduce_on_plateau(plateau_options o = {});
    template <std::derived_from<loop_run> Run>
    void check_run(Run& run) {
        constexpr bool has_one = Run::learning_rates > 0;
        static_assert(has_one, "reduce_on_plateau: neither the optimizer nor what it wraps has a learning_rate");
        check_rates(run);
    }
    SINTER_APART SINTER_COLD void begin(loop_run& run);
    SINTER_APART SINTER_COLD void epoch_end(loop_run& run);
    SINTER_APART SINTER_COLD void state(hook_state& s);

    SINTER_APART void describe(description& d) const;

    float rate() const { return rate_; }   ///< of parameter_groups the first, of all that no group has
    int reductions() const { return reductions_; }

private:
    plateau_options o_;
    training_parts::monitor monitor_;
    float rate_ = 0;             ///< as this hook left it
    std::vector<float> rates_;   ///< of all groups
    int wait_ = 0, cooldown_ = 0, reductions_ = 0;

    template <class F>
    static void each_rate(loop_run& run, F f) {
        run.trained.each_constant_rate(name, f);
    }
    SINTER_APART SINTER_COLD void check_rates(loop_run& run);
    /// Whether any rate was above its least.
    SINTER_APART SINTER_COLD bool lower(loop_run& run);
    SINTER_APART SINTER_COLD void note(loop_run& run);
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_APART reduce_on_plateau::reduce_on_plateau(plateau_options o)
    : o_(o), monitor_(o.what, o.min_delta, name, o.monitor) {
    if (!(o.factor > 0 && o.factor < 1))
        throw option_error("factor", name, base::number_text(o.factor), "between 0 and 1");
    if (o.patience < 0 || o.cooldown < 0)
        throw option_error("patience or cooldown", name, to_text({o.patience, ", ", o.cooldown}),
                           "0 or more epochs");
}
SINTER_APART void reduce_on_plateau::begin(loop_run& run) {
    std::size_t i = 0;
    each_rate(run, [&](float& rate) {
        if (run.resumed && i < rates_.size()) rate = rates_[i];
        else if (run.resumed && i == 0) rate = rate_;   // of an older file
        ++i;
    });
    note(run);
}
SINTER_APART void reduce_on_plateau::epoch_end(loop_run& run) {
    if (run.lost) return;   // nothing was measured, and it ends anyhow
    const double x = monitor_.of(run.result);
    if (cooldown_ > 0) --cooldown_, wait_ = 0;
    if (monitor_.better(x)) wait_ = 0;
    else if (cooldown_ == 0 && ++wait_ >= o_.patience && lower(run)) {
        ++reductions_;
        cooldown_ = o_.cooldown;
        wait_ = 0;
    }
    note(run);
}
SINTER_APART void reduce_on_plateau::state(hook_state& s) {
    s("rate", rate_)("wait", wait_)("cooldown", cooldown_)("reductions", reductions_)("watched", monitor_);
    s.optional("rates", rates_);
}
SINTER_APART void reduce_on_plateau::describe(description& d) const {
    monitor_.describe(d);
    d("factor", o_.factor)("patience", o_.patience)("cooldown", o_.cooldown)("min_rate", o_.min_rate);
}
SINTER_APART void reduce_on_plateau::check_rates(loop_run& run) {
    monitor_.check_run(run);
    each_rate(run, [](float&) {});
}
SINTER_APART bool reduce_on_plateau::lower(loop_run& run) {
    bool any = false;
    each_rate(run, [&](float& rate) {
        if (!(rate > o_.min_rate)) return;
        const float lower = rate * o_.factor;
        rate = lower > o_.min_rate ? lower : o_.min_rate;
        any = true;
    });
    return any;
}
SINTER_APART void reduce_on_plateau::note(loop_run& run) {
    rates_.clear();
    each_rate(run, [&](float& rate) { rates_.push_back(rate); });
    rate_ = rates_[0];
}

} // namespace sinter
#endif
