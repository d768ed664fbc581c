// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/hook_calls.hpp>

/// Hooks: what happens around the steps of train(). They are given behind its options,
///
///     early_stop stop({.patience = 8});
///     model.train(data, {.epochs = 100}, stop, csv_log("run.csv"));
///
/// and are objects of any class that has one or more of these calls. There is nothing to derive
/// from. Hooks are not copied: what one has found can be asked of it afterwards.
///
/// Arguments
///     `run` is a model_run<Trainer> (train/model_run.hpp). A hook that asks for numbers alone may take it as
///     training_run& (train/training_run.hpp). One that asks values, steps or members, and not their types, takes
///     loop_run& (train/loop_run.hpp), and has them in run.trained, with run.data beside it: it is compiled once. One
///     that needs the model's type takes auto&, and has the trainer in run.model. All calls return void.
/// Calls
///     void resume(run)                      before all others, of all hooks: a run that was saved may be loaded
///     void check_run(run)                   before any begin: throws where what the hook needs is not there, and
///                                           writes nothing yet, so that a fault of a night's job is known
///                                           at its start. run.need_measured("val_f1", name) asks for a value that
///                                           another hook measures, run.will_measure("test_f1") tells of one
///     void begin(run)                       before the first step
///     void chief_changed(run)               run.chief is another one than in the call before: this process has become
///                                           the chief, which writes files and lines for all, or is no longer it.
///                                           Behind begin, before the next call of any hook; only of jobs whose
///                                           members change (strategy/elastic.hpp)
///     void epoch_begin(run)                 before an epoch's first step here: run.result.examples is not 0
///                                           where a resumed run goes on within one
///     void before_step(run, batch)          the batch is a const data::batch_view&. Where processes share it, it may
///                                           have this one's examples alone, and says which (batch_view::whole)
///     void after_step(run, batch)           run.loss and run.step tell of this step; run.model.output() has
///                                           its outputs (where workers share batches and others have made
///                                           the step without this one, run.model.last_step().passed: loss
///                                           and outputs are still those of the step before)
///     void pass_stopped(run)                the last step was within a pass, and no other will come:
///                                           max_steps, or stop()
///     void pass_end(run)                    no more steps in this epoch: what is measured at its end is put
///                                           into run.result. A hook that tells of all of it in check_run(), or
///                                           measures nothing, says static constexpr bool measures = false;
///                                           beside others what is watched is looked for at the first epoch's end
///     void epoch_end(run)                   run.result is complete
///     void checkpoint_saved(run, file)      run.save_checkpoint() has written this file, a const std::string&
///     void end(run)                         training has ended, with whatever epochs it did; not after an exception
///     void serve(run)                       in a process that keeps weights for those that train
///                                           (parameter_server), in place of all others: run.stop_when(f)
///                                           says when it is asked to end
///   and, for what must live on in a saved run,
///     void state(hook_state&)               lists the hook's variables (train/hooks/hook_state.hpp), for
///                                           saving and loading; with it a name: static constexpr const char*
///                                           name = "..."
///   and, for what several processes that train one model must share,
///     void describe(description&) const     names settings that decide what all do (base/description.hpp). Members
///                                           compare them, and which hooks with this or with state() they have, before
///                                           each pass; hooks with neither may be one member's alone
///     A function of const epoch_result& is a hook as well, whose one call is epoch_end; if it returns bool,
///     false stops.
/// Order
///     Each call is made of one hook after the other: those of the options first (check_finite, progress_bar,
///     validate), then the caller's in the order in which they are given. A hook is therefore saved as it is
///     once all have had a call.
/// Members that change
///     run.chief is right in each call; within one it may change where members do something together (an evaluation, a
///     checkpoint), and is right again in the next. What the chief alone writes a hook prepares on all members, so that
///     whoever becomes the chief has it: csv_log is an example. A process that joins a job has the calls from begin
///     on, with run.resumed, within the epoch that the others are in. What hooks write to the model in begin and in
///     that epoch's epoch_begin, learning rates included, is left out there: the others wrote it at theirs, and may
///     have changed it since; what they have, the process is given.
/// May do
///     run.stop("why") ends training before the next step: the pass ends early, is measured, and epoch_end and end are
///     called. run.save_checkpoint(file) saves the run once all hooks have had the call; who calls it includes
///     <sinter/train/checkpoint/run_checkpoint.hpp>. Both may be asked for in any call; the loop looks once a step.
///     A hook cannot veto a step, and should not train the model itself. It may evaluate and predict, behind which
///     run.model.output() is another one.
/// Cost
///     A step makes two passes over the list, and none where no hook has before_step or after_step. It
///     allocates nothing.
/// Exceptions
///     One that a hook throws ends training and comes out of train(): no other hook is called. The model is as the last
///     step left it, and what hooks and checkpoints have written stays.
namespace sinter::inline SINTER_ORDINARY {

/// Whether train() of a model takes H as a hook.
template <class H>
concept training_hook = training_parts::has_any_call<std::remove_cvref_t<H>> ||
    std::is_invocable_v<std::remove_cvref_t<H>&, const epoch_result&>;

} // namespace sinter
