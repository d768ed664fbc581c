// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/monitor.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

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
/// ReduceLROnPlateau). `model`: an estimator or a trainer whose optimizer has a learning_rate that
/// is a number; option_error where it is a schedule. The rate is not in saved files: who resumes
/// sets it again. A hook, as early_stop.
template <class Model>
class reduce_on_plateau {
public:
    explicit reduce_on_plateau(Model& model, plateau_options o = {})
        : rate_(rate_of(model)), o_(o), monitor_(o.what, o.min_delta, "reduce_on_plateau", o.monitor) {
        if (!(o.factor > 0 && o.factor < 1))
            throw option_error("factor", "reduce_on_plateau", std::to_string(o.factor), "between 0 and 1");
        if (o.patience < 0 || o.cooldown < 0)
            throw option_error("patience or cooldown", "reduce_on_plateau", joined({o.patience, ", ", o.cooldown}),
                               "0 or more epochs");
        if (rate_.at_step || rate_.custom || rate_.warmup)
            throw option_error("the learning rate is a schedule", "reduce_on_plateau", "a schedule", "a number");
    }
    bool operator()(const epoch_result& r) {
        const double x = monitor_.of(r);
        if (cooldown_ > 0) --cooldown_, wait_ = 0;
        if (monitor_.better(x)) wait_ = 0;
        else if (cooldown_ == 0 && ++wait_ >= o_.patience && rate_.peak > o_.min_rate) {
            const float lower = rate_.peak * o_.factor;
            rate_.peak = lower > o_.min_rate ? lower : o_.min_rate;
            ++reductions_;
            cooldown_ = o_.cooldown;
            wait_ = 0;
        }
        return true;
    }
    float rate() const { return rate_.peak; }
    int reductions() const { return reductions_; }

private:
    schedule& rate_;
    plateau_options o_;
    detail::monitor monitor_;
    int wait_ = 0, cooldown_ = 0, reductions_ = 0;

    static schedule& rate_of(Model& m) {
        if constexpr (requires { m.inner(); }) return m.inner().optimizer().learning_rate;
        else return m.optimizer().learning_rate;
    }
};

} // namespace sinter
