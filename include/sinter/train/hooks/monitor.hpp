// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/train/hooks/hook.hpp>
#include <sinter/train/hooks/hook_state.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// What of an epoch's result is watched.
enum class watched : std::uint8_t { validation_loss, accuracy, loss, training_accuracy };

namespace training_parts {

/// The best value so far of what is watched: losses shall fall, accuracies rise.
class monitor {
public:
    /// `name`: what is watched instead of `what`, by epoch_result::value()'s names; empty: nothing.
    SINTER_APART explicit monitor(watched what, double min_delta, const char* hook, const char* name = "");
    /// In check_run(): what is watched must be measured by somebody.
    SINTER_APART SINTER_COLD void check_run(training_run& run) const;
    SINTER_APART bool rises() const;
    /// data_error where it was not measured. A metric that divides by nothing in this epoch is NaN:
    /// an f1 is while nothing is decided positive.
    SINTER_APART double of(const epoch_result& r);
    /// Is x better than the best by more than min_delta? NaN never is.
    bool is_better(double x) const { return rises() ? x - delta_ > best_ : x + delta_ < best_; }
    /// The same; then it is the best.
    SINTER_APART bool better(double x);
    double best() const { return best_; }
    /// Of the hook that watches: what, and by how much it must change.
    SINTER_APART SINTER_COLD void describe(description& d) const;
    void state(hook_state& s) { s("best", best_)("falls", falls_); }   ///< for checkpoints (train/hooks/hook_state.hpp)
    SINTER_APART void reset();

private:
    static constexpr const char* names[] = {"validation_loss", "accuracy", "loss", "training_accuracy"};
    watched what_;
    double delta_, best_ = 0;
    const char* hook_;
    std::string name_;
    bool falls_ = false;   ///< of a metric that is watched by name

    SINTER_APART double measured(double x, const epoch_result& r, const char* name) const;
};

} // namespace training_parts

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART monitor::monitor(watched what, double min_delta, const char* hook, const char* name)
    : what_(what), delta_(min_delta), hook_(hook), name_(name) {
    if (!(min_delta >= 0)) throw option_error("smallest change", hook, base::number_text(min_delta), "0 or more");
    reset();
}
SINTER_APART void monitor::check_run(training_run& run) const {
    static constexpr const char* built_in[] = {"val_loss", "val_accuracy", "loss", "accuracy"};
    run.need_measured(name_.empty() ? built_in[static_cast<int>(what_)] : name_, hook_);
}
SINTER_APART bool monitor::rises() const {
    if (name_.empty()) return what_ == watched::accuracy || what_ == watched::training_accuracy;
    return name_ != "loss" && name_ != "val_loss" && !falls_;
}
SINTER_APART double monitor::of(const epoch_result& r) {
    if (!name_.empty()) {
        for (const metric_value& m : r.metrics)
            if (m.name == name_) {
                if (m.falls != falls_) falls_ = m.falls, reset();   // the first time that it is seen
                return m.value;
            }
        return measured(r.value(name_), r, name_.c_str());
    }
    const double x = what_ == watched::validation_loss ? r.validation_loss
                     : what_ == watched::accuracy      ? r.accuracy
                     : what_ == watched::loss          ? r.loss
                                                       : r.training_accuracy;
    return measured(x, r, names[static_cast<int>(what_)]);
}
SINTER_APART bool monitor::better(double x) {
    if (!is_better(x)) return false;
    best_ = x;
    return true;
}
SINTER_APART void monitor::describe(description& d) const {
    d("what", name_.empty() ? names[static_cast<int>(what_)] : name_.c_str())("min_delta", delta_);
}
SINTER_APART void monitor::reset() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    best_ = rises() ? -infinity : infinity;
}
SINTER_APART double monitor::measured(double x, const epoch_result& r, const char* name) const {
    if (x != x)
        throw data_error("what is watched was not measured", to_text({hook_, ", epoch ", r.epoch}),
                         to_text({name, " is NaN"}), "validation data, and class numbers for accuracies");
    return x;
}

} // namespace sinter::training_parts
#endif
