// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/estimator/estimator.hpp>
#include <sinter/estimator/train_spec.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/hooks/stop_on_signals.hpp>

/// Training with checkpoints, and evaluation of these, in one call that is the same in every
/// process of a job.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// train_and_evaluate() of a model of any type. `train`: its train(), with these hooks around its steps, of which
/// `given` are the caller's.
using train_function =
    base::function_ref<std::vector<epoch_result>(data::pipeline&, const train_options&, span<const hook_calls>)>;
SINTER_APART SINTER_COLD train_and_evaluate_result train_and_evaluate(trained_model& model, train_spec t,
                                                                      const eval_spec& e, train_function train,
                                                                      span<const hook_calls> given);

} // namespace sinter::training_parts
namespace sinter::inline SINTER_TARGET {

/// Trains an estimator to max_steps, saves checkpoints, and evaluates them: the whole program of
/// every process of a job, whatever its role (TensorFlow's tf.estimator.train_and_evaluate).
///
///     train_and_evaluate(model, {.data = &training, .max_steps = 10'000, .folder = "run"}, {.data = &test});
///
/// Alone, or in a job without an evaluator: checkpoints are evaluated as they are written, at most
/// one every throttle seconds, and the last weights always. In a job with an evaluator, which the
/// strategy's roster knows, those that train do nothing else, and the evaluator follows the
/// checkpoints until the last has been evaluated: it is told of the end, also of an early one.
///
/// Hooks that decide by validation (early_stop, keep_best, reduce_on_plateau) have it: where those that
/// train evaluate, eval_spec's data are then evaluated at each epoch's end as well. In a job with an
/// evaluator, which tells them of nothing, there is option_error before the first step.
///
/// A run that finds checkpoints goes on from the one that was written last and is whole, bit for bit. Where the model
/// has max_steps already nothing is trained. SIGINT, SIGTERM and SIGUSR1 end the call with a
/// checkpoint (train/hooks/stop_on_signals.hpp): `interrupted` is set. `hooks` are those of
/// training. Where a cluster's options name a folder, train_spec need not. Throws what train() and
/// evaluate() throw, and option_error where the specs make no sense, or an evaluator is not
/// evaluator/0.
template <class Model, class... Hooks>
train_and_evaluate_result train_and_evaluate(Model& model, train_spec t, const eval_spec& e, Hooks&&... hooks) {
    auto& trainer = model.inner();
    using trainer_type = std::remove_cvref_t<decltype(trainer)>;
    const detail::hook_calls given[] = {detail::calls_of<model_run<trainer_type>>(hooks)..., {}};
    detail::model_view<trainer_type> view(trainer);
    return training_parts::train_and_evaluate(
        view, std::move(t), e,
        [&](data::pipeline& data, const train_options& o, span<const detail::hook_calls> all) {
            return detail::train(trainer, data, o, all);
        },
        {given, sizeof...(Hooks)});
}

} // namespace sinter

#if SINTER_BODIES
#include <sinter/estimator/follow_checkpoints.hpp>
#include <sinter/io/one_folder.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/hooks/validation.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {


/// Whether the process is one that trains, evaluates, or both.
SINTER_COLD inline duty duty_of(const session_base& s, duty asked) {
    if (asked != duty::automatic) return asked;
    if (s.serves()) return duty::serve;
    const place_in_job& own = s.in_job();
    if (own.evaluates && own.index != 0)
        throw option_error("one evaluator measures all checkpoints", "train_and_evaluate",
                           to_text({"evaluator/", own.index}), "evaluator/0");
    if (own.evaluates) return duty::evaluate;
    return own.has_evaluator || leaves_files_to_others(s) ? duty::train : duty::both;
}

/// Whether those that train measure themselves what hooks watch, since no other process evaluates.
inline bool measures_for_hooks(const session_base& s, duty asked, duty does) {
    const bool elsewhere = asked == duty::train || s.in_job().has_evaluator;
    return does == duty::both || (does == duty::train && !elsewhere);
}

/// The folder that the program or else the job names (TF_CONFIG's model_dir).
SINTER_COLD inline std::string folder_of(const session_base& s, const std::string& named) {
    return io::one_folder(named, s.in_job().folder, "train_spec::folder and the cluster's (TF_CONFIG's model_dir)");
}

/// Evaluates checkpoints as they are written, where no other process does, and tells the end.
class evaluate_checkpoints {
public:
    /// `own`: each member has data of its own; `for_hooks`: those that train measure what hooks watch.
    evaluate_checkpoints(const train_spec& t, const eval_spec& e, bool evaluates, bool own, bool for_hooks,
                         train_and_evaluate_result& to)
        : t_(t), e_(e), end_(t.folder), to_(to), evaluates_(evaluates), own_(own), for_hooks_(for_hooks) {}

    static constexpr bool measures = false;   // but for what check_run() tells of
    SINTER_COLD void check_run(loop_run& run) {
        if (!for_hooks_)
            return run.say_what_measures("what validate() measures: the evaluator tells those that train of nothing");
        tell_of_validation(run, e_.metrics, "val_");
        hooks_need_it_ = run.is_needed("val_loss") || run.is_needed("val_accuracy");   // those before this one
        for (const metrics::named& m : e_.metrics) hooks_need_it_ = hooks_need_it_ || run.is_needed("val_" + m.name());
        if (evaluates_ || hooks_need_it_)
            need_evaluable(run.trained, *e_.data, e_.metrics, e_.batches, "train_and_evaluate, eval_spec");
    }
    SINTER_COLD void begin(loop_run& run) {
        last_ = e_.clock() - e_.throttle;
        if (run.chief && run.step < run.max_steps) end_.remove();
    }
    /// Where a hook decides by validation at each epoch's end, it is measured there.
    SINTER_COLD void pass_end(loop_run& run) {
        if (!hooks_need_it_ || run.unmeasured() || run.lost) return;
        evaluation_result r = training_parts::evaluate(run.trained, *e_.data, e_.metrics, &run, e_.batches);
        if (r.interrupted) return run.stop_unmeasured("asked to stop during an evaluation");
        put_validation(run.result, r, "val_");
        if (evaluates_ && measured_at_ != run.step) keep(std::move(r), run.trained);
    }
    SINTER_COLD void checkpoint_saved(loop_run& run, const std::string&) {
        const double now = e_.clock();
        const bool due = evaluates_ && !run.interrupted() && now - last_ >= e_.throttle && run.step < run.max_steps &&
                         measured_at_ != run.step;
        if (!evaluates_ || of_chief(run.session(), due) == 0) return;   // by the chief's clock
        last_ = now;
        add(run.trained, &run);
    }
    SINTER_COLD void end(loop_run& run) {
        ended_at_ = run.chief && !ends_early(run) ? run.step : -1;
    }
    /// Tells an evaluator, once the last checkpoint has been written.
    SINTER_COLD void tell_end() const {
        if (ended_at_ >= 0) end_.write(ended_at_, t_.max_steps);
    }
    SINTER_COLD void describe(description& d) const {
        d("evaluates", evaluates_)("batches", e_.batches);
        if (!evaluates_) return;
        describe_metrics(d, e_.metrics);
        if (!own_) e_.data->describe(d.of("evaluation data"));
    }
    /// Of the weights at the end, unless that has been done.
    SINTER_COLD void finish(evaluated_model& t) {
        if (!evaluates_ || measured_at_ == t.state().steps()) return;
        add(t, nullptr);
    }

private:
    const train_spec& t_;
    const eval_spec& e_;
    training_end end_;
    train_and_evaluate_result& to_;
    bool evaluates_, own_, for_hooks_, hooks_need_it_ = false;
    double last_ = 0;
    std::int64_t ended_at_ = -1;   ///< the step at which training has ended, where this process tells it
    std::int64_t measured_at_ = -1;   ///< the step of the last evaluation

    static bool ends_early(const loop_run& run) {
        return run.why_stopped() == stopped_by_members || run.interrupted() || run.unmeasured();
    }
    SINTER_COLD void add(evaluated_model& t, const training_run* run) {
        evaluation_result r = training_parts::evaluate(t, *e_.data, e_.metrics, run, e_.batches);
        if (!r.interrupted) keep(std::move(r), t);
    }
    SINTER_COLD void keep(evaluation_result r, evaluated_model& t) {
        const bool chief = t.session().member().chief();   // it may be another one than before
        measured_at_ = t.state().steps();
        if (chief) tell_evaluation(t_.progress, t.state().steps(), r);
        if (chief && e_.evaluated) e_.evaluated(t.state().steps(), r);
        to_.evaluations.push_back({t.state().steps(), std::move(r)});
    }
};

SINTER_APART train_and_evaluate_result train_and_evaluate(trained_model& model, train_spec t, const eval_spec& e,
                                                          train_function train, span<const hook_calls> given) {
    session_base& session = model.session();
    t.folder = folder_of(session, t.folder);
    check(t, e);
    stop_on_signals signals;
    const duty does = duty_of(session, t.does);
    if (does == duty::evaluate) return follow_checkpoints(model, t, e, signals);
    if (does == duty::serve && model.has_served(&stop_on_signals::asked))
        return {.does = does, .interrupted = static_cast<bool>(signals)};
    train_and_evaluate_result r{.does = does};
    const bool for_hooks = measures_for_hooks(session, t.does, does);
    evaluate_checkpoints evaluations(t, e, does == duty::both, session.per_worker(), for_hooks, r);
    save_checkpoints saves(t.folder, {.every_steps = t.every_steps,
                                      .every_seconds = t.every_steps > 0 ? 0 : t.every_seconds,
                                      .resume = true,
                                      .keep = t.keep});
    std::vector<hook_calls> hooks{calls_of<loop_run>(signals)};
    hooks.insert(hooks.end(), given.begin(), given.end());
    hooks.push_back(calls_of<loop_run>(saves));
    hooks.push_back(calls_of<loop_run>(evaluations));
    r.epochs = train(*t.data, {.max_steps = t.max_steps, .progress = t.progress}, {hooks.data(), hooks.size()});
    r.steps = model.state().steps();
    evaluations.tell_end();
    // Members that saw no signal themselves are told by the step that it ended.
    r.interrupted = of_any(session, signals || session.server_ends());
    if (!r.interrupted) evaluations.finish(model);
    return r;
}

} // namespace sinter::training_parts
#endif
