// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/hook.hpp>
#include <sinter/train/progress.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// Shows each epoch as it goes (train/progress.hpp). train() has this hook itself where
/// train_options::progress is a file; as a hook of the caller's it shows what it is told to:
/// `model.train(data, {.progress = nullptr}, progress_bar(stdout, {.line_every = 60}))`. Of several
/// members the chief alone shows one.
class progress_bar {
public:
    static constexpr bool measures = false;   // pass_end adds nothing to the result
    /// Null: silence.
    SINTER_APART explicit progress_bar(std::FILE* out, progress_options o = {});
    SINTER_SELDOM SINTER_COLD void begin(training_run& run);
    SINTER_SELDOM SINTER_COLD void chief_changed(training_run& run);
    SINTER_SELDOM SINTER_COLD void epoch_begin(training_run& run);
    SINTER_SELDOM void after_step(training_run& run, const batch_view&);
    SINTER_SELDOM SINTER_COLD void pass_end(training_run&);
    SINTER_SELDOM SINTER_COLD void epoch_end(training_run& run);
    /// An early end has a line that says why, and so has a saved run of which nothing is left to do.
    SINTER_SELDOM SINTER_COLD void end(training_run& run);

private:
    std::unique_ptr<progress> bar_;
    std::int64_t begun_ = 0;            // the step at which training began
    std::vector<named_value> values_;   ///< of the last validation, shown while nothing else is known
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_APART progress_bar::progress_bar(std::FILE* out, progress_options o) {
    if (out) bar_ = std::make_unique<progress>(out, o);
}
SINTER_SELDOM_BODY void progress_bar::begin(training_run& run) {
    values_.clear();
    begun_ = run.step;
    chief_changed(run);
}
SINTER_SELDOM_BODY void progress_bar::chief_changed(training_run& run) {
    if (bar_) bar_->show(run.chief);
}
SINTER_SELDOM_BODY void progress_bar::epoch_begin(training_run& run) {
    const std::int64_t first = run.result.first_example;
    if (bar_)
        bar_->begin(to_text({"epoch ", run.epoch, run.epochs > 0 ? to_text({"/", run.epochs}) : "",
                            first > 0 ? to_text({" from ", first}) : ""}),
                    run.examples_a_pass > first ? run.examples_a_pass - first : 0, run.result.seconds);
}
SINTER_SELDOM_BODY void progress_bar::after_step(training_run& run, const batch_view&) {
    if (!bar_) return;
    const named_value seen{"accuracy", run.result.training_accuracy};
    const bool counted = run.result.training_accuracy == run.result.training_accuracy;
    bar_->update(run.result.examples, run.result.loss,
                 counted ? span<const named_value>(&seen, 1) : values_);
}
SINTER_SELDOM_BODY void progress_bar::pass_end(training_run&) {
    if (bar_) bar_->stop_clock();
}
SINTER_SELDOM_BODY void progress_bar::epoch_end(training_run& run) {
    if (!bar_) return;
    const epoch_result& r = run.result;
    values_.clear();
    const auto add = [&](const char* name, double value) {
        if (value == value) values_.push_back({name, value});
    };
    add("val_loss", r.validation_loss);
    add("val_accuracy", r.accuracy);
    for (const metric_value& m : r.metrics)
        values_.push_back({m.name.c_str(), m.value});   // good as long as the results are
    std::vector<named_value> shown = values_;
    if (r.training_accuracy == r.training_accuracy) shown.insert(shown.begin(), {"accuracy", r.training_accuracy});
    bar_->finish(r.loss, shown);
}
SINTER_SELDOM_BODY void progress_bar::end(training_run& run) {
    if (!bar_) return;
    if (run.stopping()) bar_->say(to_text({"training ended after step ", run.step, ": ", run.why_stopped()}));
    else if (run.resumed && run.step == begun_)
        bar_->say(to_text({"nothing to train: the saved run has all steps that are asked for, ", run.step}));
}

} // namespace sinter
#endif
