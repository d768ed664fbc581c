// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/writable_place.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/hooks/monitor.hpp>
#include <sinter/train/loop_run.hpp>
#include <sinter/train/trainer_views.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// What keep_best may be given.
struct keep_best_options {
    watched what = watched::validation_loss;
    double min_delta = 0;      ///< a change by no more than this is none
    const char* file = "";     ///< saved whenever there is a better value; empty: kept in memory alone
    saved parts = saved::whole;
    const char* monitor = "";   ///< what is watched instead, by its name: "val_f1" (epoch_result::value)
};

/// Keeps the weights and states of the best epoch, in memory and, if a name is given, in a file
/// (Keras' ModelCheckpoint with save_best_only). restore() puts them back. A hook, before
/// early_stop or behind it. What it keeps is part of a saved run, which is larger by that.
///
///     keep_best best({.file = "best.safetensors"});
///     model.train(data, {.epochs = 100, .validation = &held_out}, best);
///     best.restore(model);
class keep_best {
public:
    static constexpr const char* name = "keep_best";
    explicit keep_best(keep_best_options o = {})
        : parts_(o.parts), file_(o.file), monitor_(o.what, o.min_delta, "keep_best", o.monitor) {}

    /// io_error where the file cannot be written, option_error where nobody measures what is watched.
    SINTER_APART SINTER_COLD void check_run(training_run& run);
    /// mismatch_error if what it has kept is of another model.
    SINTER_COLD void begin(loop_run& run) {
        if (!kept_.empty()) need_size_of(run.trained.state());
    }
    /// Throws what save() throws. If there is no memory for the weights it keeps those of before.
    SINTER_APART SINTER_COLD void epoch_end(loop_run& run);
    SINTER_COLD void state(hook_state& s) { s("best_epoch", best_epoch_)("weights", kept_)("watched", monitor_); }

    SINTER_APART void describe(description& d) const;

    /// Puts the best epoch's weights and states into an estimator or a trainer; the optimizer's
    /// memory and the number of steps stay, but averages of weights begin anew. Does nothing as
    /// long as no epoch was looked at. mismatch_error if the model is another one, which is then as
    /// it was, as where memory runs out.
    template <class Model>
    void restore(Model& model) const {
        auto& trainer = trainer_of(model);
        sinter::detail::state_view<std::remove_cvref_t<decltype(trainer)>> state(trainer);
        restore_state(state);
    }
    double best() const { return monitor_.best(); }
    int best_epoch() const { return best_epoch_; }   ///< 0: none yet

private:
    saved parts_;
    std::string file_;
    training_parts::monitor monitor_;
    std::vector<float> kept_;   ///< all variables, one behind the other
    int best_epoch_ = 0;

    template <class Model>
    static auto& trainer_of(Model& m) {
        if constexpr (requires { m.inner(); }) return m.inner();
        else return m;
    }
    SINTER_APART SINTER_COLD void restore_state(trainer_state& t) const;
    SINTER_APART SINTER_COLD void need_size_of(const trainer_state& t) const;
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_APART void keep_best::check_run(training_run& run) {
    monitor_.check_run(run);
    if (run.chief && !file_.empty()) io::need_writable_place(file_);
}
SINTER_APART void keep_best::epoch_end(loop_run& run) {
    if (run.lost) return;   // what has such weights is no best, whatever the loss before them was
    const double x = monitor_.of(run.result);
    if (!monitor_.is_better(x)) return;
    std::vector<float> all;   // apart, for until all are here the last best ones are to be kept
    const trainer_state& model = run.trained.state();
    model.facts.each([&](const variable_info& v) {
        const std::vector<float> one = model.plain(v);
        all.insert(all.end(), one.begin(), one.end());
    });
    kept_ = std::move(all);
    best_epoch_ = run.result.epoch;
    monitor_.better(x);
    if (!file_.empty()) training_parts::save(model, file_, parts_, not_finite::refused);
}
SINTER_APART void keep_best::describe(description& d) const {   // where the file lies is the chief's affair
    monitor_.describe(d);
    d("saves a file", !file_.empty())("parts", static_cast<int>(parts_));
}
SINTER_APART void keep_best::restore_state(trainer_state& t) const {
    if (kept_.empty()) return;
    need_size_of(t);
    const float* next = kept_.data();
    std::vector<packed_values> ready;
    t.facts.each([&](const variable_info& v) {
        ready.push_back(t.packed(v, next));
        next += v.s.size();
    });
    t.put(ready);
}
SINTER_APART void keep_best::need_size_of(const trainer_state& t) const {
    std::size_t n = 0;
    t.facts.each([&](const variable_info& v) { n += static_cast<std::size_t>(v.s.size()); });
    if (n != kept_.size())
        throw mismatch_error("the weights that were kept are of another model", name,
                             to_text({kept_.size(), " numbers"}), to_text({n}));
}

} // namespace sinter
#endif
