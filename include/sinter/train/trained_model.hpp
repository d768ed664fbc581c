// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/description.hpp>
#include <sinter/strategy/step_result.hpp>
#include <sinter/train/checkpoint/run_archive.hpp>
#include <sinter/train/evaluated_model.hpp>
#include <memory>

namespace sinter::inline SINTER_ORDINARY {

/// A model that the loop trains (train/loop.hpp).
class trained_model : public evaluated_model {
public:
    const int phases;                ///< losses that alternate; 1: there is one loss
    const bool counts_in_training;   ///< accuracy is counted of the outputs of steps, which are at hand
    /// How a process that joins the job is given the run; null where none ever does: such programs do without the code.
    std::unique_ptr<run_archive> (*const archive_for_joining)(loop_run&);

    /// One step; throws what trainer::step throws.
    virtual float step(const batch_view&) = 0;
    virtual const step_result& last_step() const = 0;
    /// What goes with the next step to all members, and comes back to each of them in last_step().
    virtual void ask_members(bool to_stop, bool to_save) = 0;
    virtual int next_phase() = 0;   ///< whose turn it is
    /// Counts the first output of the last step, in whatever parts its batch was computed.
    virtual void count_accuracy_of_step(metrics::accuracy&, const batch_view&) = 0;

    // ---- the run
    /// In a process that keeps weights for those that train: does so until they are done, or, where `asked_to_end`
    /// says so meanwhile, until they have stopped. False elsewhere.
    virtual bool has_served(bool (*asked_to_end)()) = 0;
    /// Training begins, to go on to `max_steps` (0: without a limit): where others count steps, too, the trainer's are
    /// theirs from now on.
    virtual void begin_training(std::int64_t max_steps, bool keeps_runs) = 0;
    /// Training is over for this member. The chief waits for the others; `early`: none is to go on.
    virtual void end_training(bool early) = 0;

    // ---- the optimizer
    virtual void follow_rates() = 0;   ///< hooks may have changed them, which whoever updates is to have
    /// option_error for a setting, or a learning rate at the present step, that cannot train.
    virtual void need_settings() const = 0;
    /// f(rate, whether it is divided by) for each learning rate at the present step.
    virtual void each_learning_rate(base::function_ref<void(float, bool)> f) const = 0;
    /// f(rate) for each that is a number; option_error where one is a schedule. Whatever f makes of it holds from the
    /// next step on. `who` is named by the error.
    virtual void each_constant_rate(const char* who, base::function_ref<void(float&)> f) = 0;
    /// What members of a job must share of the model and its optimizer. `end`: of the training's steps.
    virtual void describe(description&, std::int64_t end) const = 0;

protected:
    trained_model(const port_facts& p, int n_phases, bool counts, std::unique_ptr<run_archive> (*joining)(loop_run&))
        : evaluated_model(p), phases(n_phases), counts_in_training(counts), archive_for_joining(joining) {}
};

namespace training_parts {
[[noreturn]] SINTER_APART SINTER_COLD void refuse_schedule(const char* who);
} // namespace training_parts

} // namespace sinter

#if SINTER_BODIES
#include <sinter/base/error.hpp>
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART void refuse_schedule(const char* who) {
    throw option_error("the learning rate is a schedule", who, "a schedule", "a number");
}

} // namespace sinter::training_parts
#endif
