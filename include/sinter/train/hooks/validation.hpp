// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/evaluation_checks.hpp>
#include <sinter/train/hooks/hook.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {

/// What an evaluation within training will put into each epoch's result.
template <class Run>
SINTER_COLD void tell_of_validation(Run& run, const std::vector<metrics::named>& all, const std::string& prefix) {
    run.will_measure(prefix + "loss");
    if (classifies<std::remove_cvref_t<decltype(run.model)>>) run.will_measure(prefix + "accuracy");
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

} // namespace detail

/// Evaluates a data set at each epoch's end: train()'s own hook for train_options::validation,
/// whose state the loop saves. For others there is validate (train/hooks/validate.hpp).
class validation {
public:
    static constexpr const char* name = "validate";
    explicit validation(data::pipeline& data, std::vector<metrics::named> m = {}, std::string prefix = "val_")
        : data_(&data), metrics_(std::move(m)), prefix_(std::move(prefix)) {}

    static constexpr bool measures = false;   // but for what check_run() tells of
    /// option_error or data_error where the data, or a metric, do not fit the model.
    template <class Run>
    SINTER_COLD void check_run(Run& run) {
        detail::need_evaluable(run.model, *data_, metrics_, 0, "train, validation");
        detail::tell_of_validation(run, metrics_, prefix_);
    }
    template <class Run>
    SINTER_COLD void pass_end(Run& run) {
        if (run.unmeasured() || run.lost) return;
        evaluation_result v = evaluate(run.model, *data_, metrics_, &run);
        if (v.interrupted) return run.stop_unmeasured("asked to stop during validation");
        detail::put_validation(run.result, std::move(v), prefix_);
    }
    /// Where the data are, for their order may be another in each pass.
    void state(auto& s) {
        data::position at = data_->position();
        s("epoch", at.epoch)("index", at.index);
        if (s.reading()) data_->seek(at);
    }

private:
    data::pipeline* data_;
    std::vector<metrics::named> metrics_;
    std::string prefix_;
};

} // namespace sinter
