// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/evaluation.hpp>
#include <sinter/train/hooks/hook_state.hpp>
#include <sinter/train/loop_run.hpp>

namespace sinter::inline SINTER_ORDINARY {

namespace training_parts {

/// What an evaluation within training will put into each epoch's result.
SINTER_COLD inline void tell_of_validation(loop_run& run, const std::vector<metrics::named>& all,
                                           const std::string& prefix) {
    run.will_measure(prefix + "loss");
    if (run.trained.ports.classifies()) run.will_measure(prefix + "accuracy");
    for (const metrics::named& m : all) run.will_measure(prefix + m.name());
}
/// Puts it there.
SINTER_COLD inline void put_validation(epoch_result& r, evaluation_result v, const std::string& prefix) {
    if (prefix == "val_") {
        r.validation_loss = v.loss;
        r.accuracy = v.accuracy;
    } else {
        r.metrics.push_back({prefix + "loss", v.loss, true});
        if (v.accuracy == v.accuracy) r.metrics.push_back({prefix + "accuracy", v.accuracy, false});
    }
    for (metric_value& m : v.metrics)
        r.metrics.push_back({prefix + m.name, m.value, m.falls, std::move(m.measured)});
}

} // namespace training_parts

/// Evaluates a data set at each epoch's end: train()'s own hook for train_options::validation,
/// whose state the loop saves. For others there is validate (train/hooks/validate.hpp).
class validation {
public:
    static constexpr const char* name = "validate";
    SINTER_APART explicit validation(data::pipeline& data, std::vector<metrics::named> m = {},
                                     std::string prefix = "val_");

    static constexpr bool measures = false;   // but for what check_run() tells of
    /// option_error or data_error where the data, or a metric, do not fit the model.
    SINTER_SELDOM SINTER_COLD void check_run(loop_run& run);
    SINTER_SELDOM SINTER_COLD void pass_end(loop_run& run);
    /// Where the data are, for their order may be another in each pass.
    SINTER_SELDOM SINTER_COLD void state(hook_state& s);

private:
    data::pipeline* data_;
    std::vector<metrics::named> metrics_;
    std::string prefix_;
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_APART validation::validation(data::pipeline& data, std::vector<metrics::named> m, std::string prefix)
    : data_(&data), metrics_(std::move(m)), prefix_(std::move(prefix)) {}
SINTER_SELDOM_BODY void validation::check_run(loop_run& run) {
    training_parts::need_evaluable(run.trained, *data_, metrics_, 0, "train, validation");
    training_parts::tell_of_validation(run, metrics_, prefix_);
}
SINTER_SELDOM_BODY void validation::pass_end(loop_run& run) {
    if (run.unmeasured() || run.lost) return;
    evaluation_result v = training_parts::evaluate(run.trained, *data_, metrics_, &run, 0);
    if (v.interrupted) return run.stop_unmeasured("asked to stop during validation");
    training_parts::put_validation(run.result, std::move(v), prefix_);
}
SINTER_SELDOM_BODY void validation::state(hook_state& s) {
    data::position at = data_->position();
    s("epoch", at.epoch)("index", at.index).where_any("cursors", at.cursors);
    if (s.reading()) data_->seek(at);
}

} // namespace sinter
#endif
