// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/evaluate.hpp>
#include <sinter/train/hooks/hook.hpp>

namespace sinter::inline SINTER_TARGET {

/// Evaluates a data set at each epoch's end: train()'s own hook for train_options::validation,
/// whose state the loop saves. For others there is validate (train/hooks/validate.hpp).
class validation {
public:
    static constexpr const char* name = "validate";
    explicit validation(data::pipeline& data, std::vector<metrics::named> m = {}, std::string prefix = "val_")
        : data_(&data), metrics_(std::move(m)), prefix_(std::move(prefix)) {}

    SINTER_COLD void begin(training_run&) { detail::need_an_end(*data_, "train, validation"); }
    template <class Run>
    SINTER_COLD void pass_end(Run& run) {
        if (run.unmeasured() || run.lost) return;
        evaluation_result v = evaluate(run.model, *data_, metrics_, &run);
        if (v.interrupted) return run.stop_unmeasured("asked to stop during validation");
        epoch_result& r = run.result;
        if (prefix_ == "val_") {
            r.validation_loss = v.loss;
            r.accuracy = v.accuracy;
        } else {
            r.metrics.push_back({prefix_ + "loss", v.loss, true});
            if (v.accuracy == v.accuracy) r.metrics.push_back({prefix_ + "accuracy", v.accuracy, false});
        }
        for (metric_value& m : v.metrics)
            r.metrics.push_back({prefix_ + m.name, m.value, m.falls, std::move(m.measured)});
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
