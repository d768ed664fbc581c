// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/loop_run.hpp>
#include <sinter/train/options.hpp>

/// The loop of training: epochs, steps, and the hooks around them.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// All epochs, or those that are left of a run that a hook has loaded. What this member throws
/// alone, from its data or a hook, ends the others, too, with the same words. `run`: new. Throws what
/// estimator::train() throws.
SINTER_SELDOM SINTER_COLD std::vector<epoch_result> train(loop_run& run, const train_options&,
                                                          span<const hook_calls> hooks);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/train/agreement.hpp>
#include <sinter/train/hooks/check_finite.hpp>
#include <sinter/train/hooks/progress_bar.hpp>
#include <sinter/train/hooks/validation.hpp>
#include <sinter/train/members.hpp>
#include <sinter/train/passes.hpp>
#include <sinter/train/terms.hpp>
#include <cstdio>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM_CLASS class training_loop {
public:
    SINTER_COLD training_loop(loop_run& run, const train_options& o, span<const hook_calls> hooks)
        : run_(run), t_(run.trained), o_(o), finite_(o.not_finite), bar_(o.progress) {
        if (o.epochs < 0) throw option_error("number of epochs", "train", to_text({o.epochs}), "0 or more");
        if (o.max_steps < 0) throw option_error("number of steps", "train", to_text({o.max_steps}), "0 or more");
        if (run.data.size() == data::endless && o.max_steps == 0)
            throw option_error("the data never end", "train", "repeat() without a number", "max_steps");
        if (!o.validation && !o.metrics.empty())
            throw option_error("metrics without data to measure", "train", o.metrics[0].name(), "validation");
        run_.epochs = o.epochs > 0 || o.max_steps > 0 ? o.epochs : 1;
        run_.max_steps = o.max_steps;
        run_.examples_a_pass = run.data.size() > 0 ? run.data.size() : 0;
        hooks_.push_back(calls_of<loop_run, false>(finite_));
        const bool has_bar = o.progress && (run_.chief || t_.session().joining());
        if (has_bar) hooks_.push_back(calls_of<loop_run, false>(bar_));
        if (o.validation) {
            validation_ = std::make_unique<validation>(*o.validation, o.metrics);
            hooks_.push_back(calls_of<loop_run, false>(*validation_));
        }
        for (const hook_calls& h : hooks) hooks_.push_back(h);
        run_.hooks = {hooks_.data(), hooks_.size()};
        run_.validated = validation_.get();
        for (const hook_calls& h : run_.hooks) before_ = before_ || h.before_step, after_ = after_ || h.after_step;
    }
    ~training_loop() {
        try {
            run_.data.share({});
        } catch (...) {   // what is wrong with them is said when they are read
        }
    }
    std::vector<epoch_result> run() {
        try {
            return run_all();
        } catch (const cluster_error&) {   // which all have
            throw;
        } catch (const std::exception& e) {
            end_members(t_.session(), e.what());
            throw;
        }
    }

private:
    SINTER_COLD std::vector<epoch_result> run_all() {
        using enum hook_call;
        std::vector<epoch_result> history;
        if (t_.session().serves()) run_.tell(serve);
        if (t_.has_served(run_.interruption())) return history;
        if (t_.session().joining() || !run_.alone) terms_ = terms().text();
        if (!joins()) {
            agree();
            run_.tell(resume);
        }
        t_.begin_training(o_.max_steps, run_.keeps_runs);
        run_.step = steps();
        t_.follow_rates();   // from those that servers have
        t_.need_settings();
        run_.will_measure("loss");
        if (t_.counts_in_training) run_.will_measure("accuracy");
        run_.tell(check_run);
        bool any = false;
        for (const hook_calls& h : run_.hooks) any = any || h.may_measure;
        run_.check_needs(any);
        run_.tell(begin);
        bool more = !(run_.stopping() || enough_steps());
        while (more && (run_.within_pass || !(run_.epochs > 0) || run_.epoch < run_.epochs)) {
            more = one_epoch();
            if (!run_.unmeasured() && run_.result.examples > 0) history.push_back(std::move(run_.result));
            run_.result = {};
        }
        t_.end_training(run_.stopping() && run_.why_stopped() != stopped_by_members && !enough_steps());
        run_.step = steps();
        run_.tell(end);
        return history;
    }

    loop_run& run_;
    trained_model& t_;
    const train_options& o_;
    check_finite finite_;
    progress_bar bar_;
    std::unique_ptr<validation> validation_;
    std::vector<hook_calls> hooks_;
    double first_loss_ = -1;   ///< of the first step; -1 before it
    std::int64_t step_of_job_ = -1;   ///< the step of a job that this process has just joined; -1: of none
    std::vector<float> rates_of_job_;   ///< the job's learning rates then
    std::string terms_;   ///< what members must share, as this one began
    bool agreed_ = false;   ///< they have compared it, and no pass has been made since
    bool has_passed_ = false;   ///< others have made steps of this epoch without this member
    bool has_warned_ = false;
    bool before_ = false, after_ = false;   ///< whether any hook has these calls

    std::int64_t steps() const { return t_.state().steps(); }
    /// All that the result depends on, as it is now, but for where the data are.
    SINTER_COLD description terms() const {
        description d;
        if (o_.validation) describe_data(d, t_.session(), *o_.validation, "validation data");
        describe_data(d, t_.session(), run_.data, "training data");
        std::int64_t end = o_.max_steps;   // of steps, as far as it is known
        if (const std::int64_t n = run_.data.size_when_made(); end == 0 && n > 0)
            end = run_.epochs * ((n - 1) / run_.data.batch_size() + 1);
        t_.describe(d, end);
        describe_training(d, o_, run_.hooks);
        return d;
    }
    /// mismatch_error on every member unless all mean the same training, of the same data at the same place: before
    /// the first pass and before each that follows.
    SINTER_COLD void agree() {
        if (run_.alone) return;
        description d = terms();
        if (!t_.session().per_worker()) {
            describe_place(d.of("training data"), run_.data.position());
        }
        if (!t_.session().may_lag()) d.of("")("steps made", steps());
        need_same(t_.session(), d, "members do not train alike", "train", same_or_per_worker);
        agreed_ = true;
    }

    // ---- of jobs whose members change (strategy/elastic.hpp)
    /// Where the job runs already: this process goes on where the others are.
    SINTER_COLD bool joins() {
        joining_calls* const job = t_.session().joining();
        if (!job || !job->waits()) return false;
        run_.archive_for_joining().take_over(job->join(), terms_);
        step_of_job_ = steps();
        rates_of_job_ = t_.state().rates();
        job->say_joined(step_of_job_, run_.epoch);
        return true;
    }
    /// Who waits joins here, behind the same step on all members.
    SINTER_COLD void admit() {
        run_.sums.merge(t_.session());
        run_.result.seconds = base::monotonic_seconds() - run_.began;
        t_.session().joining()->admit(run_.archive_for_joining().hand_over(terms_));
        run_.know_members();
    }
    /// Which examples this member computes, of which data.
    void know_share() {
        run_.data.share(t_.session().own_share());
        if (!t_.session().per_worker() || t_.session().serves()) return;
        const membership m = t_.session().member();
        run_.data.be_worker(m.index, m.count);
    }
    bool enough_steps() const { return o_.max_steps > 0 && steps() >= o_.max_steps; }

    /// Whether there is to be another one.
    SINTER_COLD bool one_epoch() {
        using enum hook_call;
        epoch_result& r = run_.result;
        const bool goes_on = run_.within_pass;   // where a run was saved
        if (!goes_on) {
            ++run_.epoch;
            run_.sums = epoch_sums(t_.phases);
            r = {};
            has_passed_ = false;
        }
        r.epoch = run_.epoch;
        run_.within_pass = true;
        data::position from = goes_on ? data::position() : run_.data.position();   // what a loop may have left
        if (from.index > 0 && run_.data.size() > 0) {
            if (from.index < run_.data.size()) tell_of_rest(from.index);
            from.index = 0;
        }
        run_.tell(epoch_begin);
        if (joining_calls* const job = t_.session().joining()) {   // one that joins has been passive so far
            if (step_of_job_ >= 0) {   // whatever hooks have set
                t_.state().set_steps(std::exchange(step_of_job_, -1));
                t_.state().set_rates(rates_of_job_);
            }
            job->take_part();
        }
        if (const bool agreed = std::exchange(agreed_, false); !goes_on && !agreed) agree(), agreed_ = false;
        bool more = true;
        know_share();
        run_.began = base::monotonic_seconds() - r.seconds;
        if (!run_.pass_over)
            one_pass(
                run_.data,
                [&](const batch_view& b) {
                    if (from.index > 0 && run_.data.position().epoch == from.epoch) tell_of_rest(from.index);
                    from.index = 0;
                    return more = one_step(b);
                },
                goes_on);
        run_.pass_over = more;
        if (more && !run_.alone && t_.session().takes_empty_batches())   // others may have more
            do more = one_step({.size = 0});
            while (more && t_.last_step().examples > 0);
        run_.sums.merge(t_.session());
        if (r.examples == 0 && !has_passed_) {
            if (!run_.alone || !(run_.stopping() || enough_steps()))
                throw data_error("there is nothing to train on", "train", "a pass without examples", "at least one");
            --run_.epoch;   // others have made all steps that there were to make
            return run_.within_pass = run_.pass_over = false;
        }
        r.seconds = base::monotonic_seconds() - run_.began;
        sum_up();
        if (!more) run_.tell(pass_stopped);
        tell_losses();
        run_.tell(pass_end);
        if (run_.unmeasured()) {   // to be measured when the run goes on
            if (more) run_.tell(pass_stopped);
            return run_.within_pass = run_.pass_over = false;
        }
        run_.within_pass = run_.pass_over = false;
        run_.tell(epoch_end);
        tell_of_divergence();
        return more && !run_.stopping();
    }
    /// Whether there is to be another one.
    bool one_step(const batch_view& b) {
        if (t_.phases > 1) run_.phase = t_.next_phase();
        if (before_)
            for (const hook_calls& h : run_.hooks)
                if (h.before_step) h.before_step(h.hook, run_, b);
        const bool own = run_.asks_to_stop(), asks = own || run_.asked_to_leave(t_.session());
        t_.ask_members(asks, run_.asks_to_save());
        run_.have_asked_to_save();
        const float loss = t_.step(b);
        const step_result& done = t_.last_step();
        if (!done.passed) run_.loss = loss;
        has_passed_ = has_passed_ || done.passed;
        run_.know_members();
        run_.save_is_asked = done.save;
        if (done.stop) run_.stop(own ? run_.asked_why() : stopped_by_members);
        if (done.examples == 0 && !done.passed)   // nobody had an example, or leave for a step
            return !(run_.stopping() || enough_steps());
        run_.step = steps();
        if (first_loss_ < 0 && !done.passed) first_loss_ = __builtin_fabs(static_cast<double>(run_.loss));
        if (!done.passed && __builtin_fabsf(run_.loss) <= std::numeric_limits<float>::max()) {
            run_.sums.losses[run_.phase].add_mean(static_cast<double>(run_.loss), t_.loss_weight());
            if (t_.counts_in_training && run_.phase == 0) t_.count_accuracy_of_step(run_.sums.own, b);
            run_.result.examples += done.examples;
        }
        if (after_) {
            sum_up();
            for (const hook_calls& h : run_.hooks)
                if (h.after_step) {
                    h.after_step(h.hook, run_, b);
                    run_.know_members();
                }
        }
        run_.save_what_is_asked();
        if (run_.alone && run_.interrupted()) run_.stop("asked to stop");
        const bool more = !(run_.stopping() || enough_steps());
        if (more && done.join) admit();
        know_share();   // members may be others now
        return more;
    }
    void sum_up() {
        run_.result.loss = run_.sums.losses[0].of_sum();
        if (t_.counts_in_training) run_.result.training_accuracy = run_.sums.accuracy_so_far();
    }
    /// The epoch's losses, which hooks of all members decide by.
    SINTER_COLD void tell_losses() {
        epoch_result& r = run_.result;
        std::vector<double> of_phases;
        for (int i = 0; i < t_.phases; ++i) {   // NaN: there was no step of it
            const metrics::mean& m = run_.sums.losses[i];
            of_phases.push_back(m.weight() == 0 && m.of_sum() == 0 ? m.value() : m.of_sum());
        }
        if (run_.apart) {
            for (std::size_t i = 0; i < of_phases.size(); ++i)
                of_phases[i] = t_.session().mean_of_all(run_.sums.losses[i].of_sum(), run_.sums.losses[i].weight());
            r.loss = of_phases[0];
        }
        if (of_phases.size() > 1) r.phase_losses = std::move(of_phases);
    }
    /// One line, and training goes on: what an earlier loop has read of the pass is left out.
    SINTER_COLD void tell_of_rest(std::int64_t first) {
        run_.result.first_example = first;
        if (!o_.progress || !run_.chief) return;
        const std::int64_t all = run_.data.size();
        std::fprintf(o_.progress, "%s\n",
                     to_text({"epoch ", run_.epoch, " begins at example ", first, all > 0 ? to_text({" of ", all}) : "",
                             ", where the data were left: rewind() begins at the first"})
                         .c_str());
    }
    /// One line, and training goes on: a loss a thousand times as large as the first one's was (or
    /// as 1), which a rate that is too large makes of it without ever leaving the finite numbers.
    SINTER_COLD void tell_of_divergence() {
        const double loss = __builtin_fabs(run_.result.loss);
        if (!o_.progress || !run_.chief || has_warned_ || !(first_loss_ >= 0) ||
            !(loss > 1e3 * (first_loss_ > 1 ? first_loss_ : 1)))
            return;
        has_warned_ = true;
        float rate = -1;
        t_.each_learning_rate([&](float r, bool) { rate = r > rate ? r : rate; });
        std::string line =
            to_text({"the loss has grown a thousandfold since the first step: try a smaller learning rate"});
        if (rate >= 0) line += " than " + base::number_text(rate);
        std::fprintf(o_.progress, "%s\n", line.c_str());
    }
};

SINTER_SELDOM_BODY std::vector<epoch_result> train(loop_run& run, const train_options& o,
                                                   span<const hook_calls> hooks) {
    training_loop loop(run, o, hooks);
    return loop.run();
}

} // namespace sinter::training_parts
#endif
