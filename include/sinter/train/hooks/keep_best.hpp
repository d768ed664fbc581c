// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/monitor.hpp>

namespace sinter::inline SINTER_TARGET {

struct keep_best_options {
    watched what = watched::validation_loss;
    double min_delta = 0;      ///< a change by no more than this is none
    const char* file = "";     ///< saved whenever there is a better value; empty: kept in memory alone
    saved parts = saved::whole;
    const char* monitor = "";   ///< what is watched instead, by its name: "val_f1" (epoch_result::value)
};

/// Keeps the weights and states of the best epoch, in memory and, if a name is given, in a file
/// (Keras' ModelCheckpoint with save_best_only). restore() puts them back. A hook, as early_stop;
/// before it, so that the last epoch counts.
template <class Model>
class keep_best {
public:
    explicit keep_best(Model& model, keep_best_options o = {})
        : model_(model), o_(o), file_(o.file), monitor_(o.what, o.min_delta, "keep_best", o.monitor) {}
    /// Throws what save() throws.
    bool operator()(const epoch_result& r) {
        if (!monitor_.better(monitor_.of(r))) return true;
        best_epoch_ = r.epoch;
        kept_.clear();
        each([&](const auto& v) { kept_.push_back(trainer().plain(v)); });
        if (!file_.empty()) save(trainer(), file_, o_.parts);
        return true;
    }
    /// Puts the best epoch's weights and states into the model; the optimizer's memory and the
    /// number of steps stay. Does nothing as long as no epoch was looked at.
    void restore() {
        if (kept_.empty()) return;
        auto next = kept_.begin();
        each([&](const auto& v) { trainer().set_plain(v, (next++)->data()); });
    }
    double best() const { return monitor_.best(); }
    int best_epoch() const { return best_epoch_; }   ///< 0: none yet

private:
    Model& model_;
    keep_best_options o_;
    std::string file_;
    detail::monitor monitor_;
    std::vector<std::vector<float>> kept_;
    int best_epoch_ = 0;

    auto& trainer() {
        if constexpr (requires { model_.inner(); }) return model_.inner();
        else return model_;
    }
    template <class F>
    void each(F f) {
        auto& t = trainer();
        for (int i = 0; i < t.parameters(); ++i) f(t.parameter(i));
        for (int i = 0; i < t.states(); ++i) f(t.state(i));
    }
};

} // namespace sinter
