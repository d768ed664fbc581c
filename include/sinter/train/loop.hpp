// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/train/checkpoint/run_archive.hpp>
#include <sinter/train/data_places.hpp>
#include <sinter/train/evaluate.hpp>
#include <sinter/train/hooks/check_finite.hpp>
#include <sinter/train/hooks/progress_bar.hpp>
#include <sinter/train/hooks/validation.hpp>
#include <sinter/train/optimizers/detail/learning_rates.hpp>
#include <sinter/train/options.hpp>
#include <sinter/train/terms.hpp>

/// The loop of training: epochs, steps, and the hooks around them.
namespace sinter::inline SINTER_TARGET::detail {

template <class Trainer>
inline constexpr int phases_of = 1;
template <class Trainer>
    requires requires { Trainer::phases; }
inline constexpr int phases_of<Trainer> = Trainer::phases;

/// Whether accuracy is counted in training: where a step's outputs are at hand. From a GPU they
/// would have to be copied, and it would wait for that in each step. (Labels with a range of their
/// own may be of more classes than training scores.)
template <class Trainer>
constexpr bool counts_in_training() {
    return classifies<Trainer> && first_target_of<Trainer>.at[0].below == 0 &&
           Trainer::strategy_type::device::shares_memory;
}
/// What the loop itself has seen of an epoch.
template <int Phases>
struct epoch_sums {
    metrics::mean losses[std::size_t{Phases}];
    metrics::accuracy accuracy;   ///< of all members, as far as merged
    metrics::accuracy own;        ///< what this member has counted since then

    /// Every member's accuracy becomes that of all. Losses are those of whole batches already.
    template <class Session>
    void merge(Session& s) {
        if constexpr (always_alone<Session>) {
            accuracy.merge(own);
        } else {
            double counts[] = {static_cast<double>(own.right()), static_cast<double>(own.count())};
            s.reduce(span<double>(counts, 2));
            accuracy.add_counts(static_cast<std::int64_t>(counts[0]), static_cast<std::int64_t>(counts[1]));
        }
        own = {};
    }
    double accuracy_so_far() const {
        metrics::accuracy all = accuracy;
        all.merge(own);
        return all.value();
    }
    void state(auto& s) {
        static constexpr const char* names[] = {"loss",   "loss_1", "loss_2", "loss_3",
                                                "loss_4", "loss_5", "loss_6", "loss_7"};
        static_assert(Phases <= 8);
        for (int i = 0; i < Phases; ++i) s(names[i], losses[i]);
        s("accuracy", accuracy);
    }
};

/// A run whose hooks know what is trained: an estimator's trainer, or another class of the same
/// calls.
template <class Trainer>
struct model_run : training_run {
    Trainer& model;         ///< steps, variables and their values, the optimizer
    data::pipeline& data;   ///< that it is trained on; not to be read from

    /// Asks for the whole run to be saved in this file, once all hooks have had the present call;
    /// what is asked for before a step or at a pass's end is done after the step or at the epoch's
    /// end. Whoever calls this includes <sinter/train/checkpoint/run_checkpoint.hpp>.
    /// `owner` is asked whether this run may still write (io/run_record.hpp). Where
    /// several processes train the model, hooks of all of them ask at the same step.
    SINTER_COLD void save_checkpoint(std::string file, run_record* owner = nullptr) {
        archive();
        files_.push_back({std::move(file), owner});
    }
    /// How the run is saved, and gone on with: load() in resume() alone.
    SINTER_COLD run_archive& archive() {
        constexpr bool joins = detail::members_change<Trainer>;
        static_assert(detail::has_archive<model_run, joins>,
                      "who saves or loads a run includes <sinter/train/checkpoint/run_checkpoint.hpp>");
        if (!archive_) archive_ = std::make_unique<archive_of<model_run, joins>>(*this);
        return *archive_;
    }

    // ---- of the loop
    using sums_type = detail::epoch_sums<detail::phases_of<Trainer>>;
    span<const detail::hook_calls> hooks;
    validation* validated = nullptr;   ///< of the options
    sums_type sums{};
    detail::data_places places{};   ///< where members read data of their own
    bool within_pass = false;   ///< the epoch's steps have begun, and it has not been measured
    bool pass_over = false;     ///< this member's data have come to the end of the pass
    double began = 0;           ///< when the pass began, less what a resumed one had taken before

    model_run(Trainer& t, data::pipeline& d, span<const detail::hook_calls> h) : model(t), data(d), hooks(h) {
        step = t.steps();
        chief = t.session().member().chief();
        alone = detail::is_alone(t.session());
        apart = t.session().may_lag();
    }
    /// A call of all hooks, and what they have asked for in it.
    SINTER_COLD void tell(detail::hook_call call) {
        const bool begins = call == detail::hook_call::begin;
        for (const detail::hook_calls& h : hooks) {
            know_members();
            detail::tell(h, call, *this);
            begun_ += begins;
        }
        know_members();
        if (call != detail::hook_call::pass_end) save_what_is_asked();
    }
    /// Who the members are now, where they may change: they do so in whatever they do together.
    void know_members() {
        if constexpr (detail::members_change<Trainer>) {
            alone = detail::is_alone(model.session());
            if (chief != model.session().member().chief()) change_chief();
        }
    }
    void save_what_is_asked() {
        if (lost || detail::leaves_files_to_others(model.session())) files_.clear();
        if (!files_.empty()) save_all();
    }
    /// What the loop remembers, in a checkpoint.
    void state(auto& s) {
        s("epoch", epoch)("within_pass", within_pass)("examples", result.examples)("seconds", result.seconds)("sums",
                                                                                                              sums);
        if (validated) s("validation", *validated);
        s.optional("first_example", result.first_example);
    }

private:
    struct to_save {
        std::string file;
        run_record* owner;
    };
    std::vector<to_save> files_;
    std::size_t begun_ = 0;   ///< hooks that have had begin
    std::unique_ptr<run_archive> archive_;   ///< of this run, once somebody has asked for it

    SINTER_COLD void change_chief() {
        chief = !chief;
        for (const detail::hook_calls& h : hooks.first(begun_))
            detail::tell(h, detail::hook_call::chief_changed, *this);
    }
    SINTER_COLD void save_all() {
        const std::vector<to_save> files = std::move(files_);
        files_.clear();
        sums.merge(model.session());
        if (within_pass) result.seconds = base::monotonic_seconds() - began;
        for (const to_save& f : files) {
            archive_->save(f.file, f.owner);
            model.session().checkpoint_saved(f.file);
            for (const detail::hook_calls& h : hooks) {
                know_members();
                if (h.checkpoint_saved) h.checkpoint_saved(h.hook, *this, f.file);
            }
            know_members();
        }
    }
};

/// The loop. Works with any class that has trainer's calls.
template <class Trainer>
class training_loop {
public:
    using run_type = model_run<Trainer>;

    SINTER_COLD training_loop(Trainer& t, data::pipeline& data, const train_options& o,
                              span<const detail::hook_calls> hooks)
        : t_(t), o_(o), finite_(o.not_finite), bar_(o.progress), run_(t, data, {}) {
        using detail::calls_of;
        if (o.epochs < 0) throw option_error("number of epochs", "train", to_text({o.epochs}), "0 or more");
        if (o.max_steps < 0) throw option_error("number of steps", "train", to_text({o.max_steps}), "0 or more");
        if (data.size() == data::endless && o.max_steps == 0)
            throw option_error("the data never end", "train", "repeat() without a number", "max_steps");
        if (!o.validation && !o.metrics.empty())
            throw option_error("metrics without data to measure", "train", o.metrics[0].name(), "validation");
        run_.epochs = o.epochs > 0 || o.max_steps > 0 ? o.epochs : 1;
        run_.max_steps = o.max_steps;
        run_.examples_a_pass = data.size() > 0 ? data.size() : 0;
        hooks_ = std::make_unique<detail::hook_calls[]>(3 + hooks.size());
        detail::hook_calls* next = hooks_.get();
        *next++ = calls_of<run_type, false>(finite_);
        has_bar_ = o.progress && (run_.chief || detail::members_change<Trainer>);
        if (has_bar_) *next++ = calls_of<run_type, false>(bar_);
        if (o.validation) {
            validation_ = std::make_unique<validation>(*o.validation, o.metrics);
            *next++ = calls_of<run_type, false>(*validation_);
        }
        for (const detail::hook_calls& h : hooks) *next++ = h;
        run_.hooks = {hooks_.get(), static_cast<std::size_t>(next - hooks_.get())};
        run_.validated = validation_.get();
        for (const detail::hook_calls& h : run_.hooks)
            before_ = before_ || h.before_step, after_ = after_ || h.after_step;
    }
    /// All epochs, or those that are left of a run that a hook has loaded. What this member throws
    /// alone, from its data or a hook, ends the others, too, with the same words.
    SINTER_COLD std::vector<epoch_result> run() {
        if constexpr (!detail::trains_alone<Trainer>) {
            try {
                return run_all();
            } catch (const cluster_error&) {   // which all have
                throw;
            } catch (const std::exception& e) {
                detail::end_members(t_.session(), e.what());
                throw;
            }
        } else {
            return run_all();
        }
    }

private:
    SINTER_COLD std::vector<epoch_result> run_all() {
        using enum detail::hook_call;
        std::vector<epoch_result> history;
        if constexpr (!Trainer::strategy_type::traits.updates_here) {
            if (t_.session().serves()) run_.tell(serve);
            if (detail::has_served(t_, run_.interruption())) return history;
        }
        if constexpr (!detail::trains_alone<Trainer>)
            if (detail::members_change<Trainer> || !run_.alone) terms_ = terms().text();
        if (!joins()) {
            agree();
            run_.tell(resume);
        }
        detail::begin_training(t_, o_.max_steps, run_.keeps_runs);
        run_.step = t_.steps();
        detail::follow_rates(t_);   // from those that servers have
        detail::need_settings(t_.optimizer());
        detail::need_learning_rates(t_.optimizer(), detail::phases_of<Trainer> > 1 ? 0 : t_.steps());
        run_.will_measure("loss");
        if (detail::counts_in_training<Trainer>()) run_.will_measure("accuracy");
        run_.tell(check_run);
        bool any = false;
        for (const detail::hook_calls& h : run_.hooks) any = any || h.may_measure;
        run_.check_needs(any);
        run_.tell(begin);
        bool more = !(run_.stopping() || enough_steps());
        while (more && (run_.within_pass || !(run_.epochs > 0) || run_.epoch < run_.epochs)) {
            more = one_epoch();
            if (!run_.unmeasured() && run_.result.examples > 0) history.push_back(std::move(run_.result));
            run_.result = {};
        }
        detail::end_training(t_, run_.stopping() && run_.why_stopped() != detail::stopped_by_members &&
                                     !enough_steps());
        run_.step = t_.steps();
        run_.tell(end);
        return history;
    }

    Trainer& t_;
    const train_options& o_;
    check_finite finite_;
    progress_bar bar_;
    std::unique_ptr<validation> validation_;
    std::unique_ptr<detail::hook_calls[]> hooks_;
    run_type run_;
    double first_loss_ = -1;   ///< of the first step; -1 before it
    std::int64_t joined_at_ = -1;   ///< the step of a job that this process has just joined; -1: of none
    std::vector<float> joined_with_;   ///< the job's learning rates then
    std::string terms_;   ///< what members must share, as this one began
    bool agreed_ = false;   ///< they have compared it, and no pass has been made since
    bool has_passed_ = false;   ///< others have made steps of this epoch without this member
    bool told_ = false, has_bar_ = false;
    bool before_ = false, after_ = false;   ///< whether any hook has these calls

    /// All that the result depends on, as it is now, but for where the data are.
    SINTER_COLD description terms() const {
        description d;
        if (o_.validation) detail::describe_data(d, t_.session(), *o_.validation, "validation data");
        detail::describe_data(d, t_.session(), run_.data, "training data");
        std::int64_t end = o_.max_steps;   // of steps, as far as it is known
        if (const std::int64_t n = run_.data.size_when_made(); end == 0 && n > 0)
            end = run_.epochs * ((n - 1) / run_.data.batch_size() + 1);
        detail::describe_model(d, t_, end);
        detail::describe_training(d, o_, run_.hooks);
        return d;
    }
    /// mismatch_error on every member unless all mean the same training, of the same data at the same place: before
    /// the first pass and before each that follows.
    SINTER_COLD void agree() {
        if constexpr (!detail::trains_alone<Trainer>) {
            if (run_.alone) return;
            description d = terms();
            if (!t_.session().per_worker()) {
                const data::position at = run_.data.position();
                d.of("training data")("passes before", at.epoch)("examples read of this one", at.index);
            }
            if (!t_.session().may_lag()) d.of("")("steps made", t_.steps());
            detail::need_same(t_.session(), d, "members do not train alike", "train", detail::same_or_per_worker);
            agreed_ = true;
        }
    }

    // ---- of jobs whose members change (strategy/elastic.hpp)
    /// Where the job runs already: this process goes on where the others are.
    SINTER_COLD bool joins() {
        if constexpr (detail::members_change<Trainer>) {
            joining_calls* const job = t_.session().joining();
            if (!job || !job->waits()) return false;
            run_.archive().take_over(job->join(), terms_);
            joined_at_ = t_.steps();
            joined_with_ = detail::rates_of(t_.optimizer());
            job->say_joined(joined_at_, run_.epoch);
            return true;
        }
        return false;
    }
    /// Who waits joins here, behind the same step on all members.
    SINTER_COLD void admit() {
        if constexpr (detail::members_change<Trainer>) {
            run_.sums.merge(t_.session());
            run_.result.seconds = base::monotonic_seconds() - run_.began;
            t_.session().joining()->admit(run_.archive().hand_over(terms_));
            run_.know_members();
        }
    }
    bool enough_steps() const { return o_.max_steps > 0 && t_.steps() >= o_.max_steps; }

    /// Whether there is to be another one.
    SINTER_COLD bool one_epoch() {
        using enum detail::hook_call;
        epoch_result& r = run_.result;
        const bool goes_on = run_.within_pass;   // where a run was saved
        if (!goes_on) {
            ++run_.epoch;
            run_.sums = {};
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
        if constexpr (detail::members_change<Trainer>) {   // one that joins has been quiet so far
            if (joined_at_ >= 0) {   // whatever hooks have set
                t_.set_steps(std::exchange(joined_at_, -1));
                detail::set_rates(t_.optimizer(), joined_with_);
            }
            if (joining_calls* const job = t_.session().joining()) job->speak();
        }
        if (const bool agreed = std::exchange(agreed_, false); !goes_on && !agreed) agree(), agreed_ = false;
        bool more = true;
        run_.began = base::monotonic_seconds() - r.seconds;
        if (!run_.pass_over)
            detail::one_pass(
                run_.data,
                [&](const data::batch_view& b) {
                    if (from.index > 0 && run_.data.position().epoch == from.epoch) tell_of_rest(from.index);
                    from.index = 0;
                    return more = one_step(b);
                },
                goes_on);
        run_.pass_over = more;
        if constexpr (!detail::trains_alone<Trainer>)
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
    bool one_step(const data::batch_view& b) {
        if constexpr (detail::phases_of<Trainer> > 1) run_.phase = t_.next_phase();
        if (before_)
            for (const detail::hook_calls& h : run_.hooks)
                if (h.before_step) h.before_step(h.hook, run_, b);
        const bool own = run_.asks_to_stop(), asks = own || detail::asked_to_leave(t_, &run_);
        t_.ask_members(asks, run_.asks_to_save());
        run_.have_asked_to_save();
        const float loss = t_.step(b);
        const step_result& done = t_.last_step();
        if (!done.passed) run_.loss = loss;
        has_passed_ = has_passed_ || done.passed;
        run_.know_members();
        run_.save_is_asked = done.save;
        if (done.stop) run_.stop(own ? run_.asked_why() : detail::stopped_by_members);
        if (done.examples == 0 && !done.passed)   // nobody had an example, or leave for a step
            return !(run_.stopping() || enough_steps());
        run_.step = t_.steps();
        if (first_loss_ < 0 && !done.passed) first_loss_ = __builtin_fabs(static_cast<double>(run_.loss));
        if (!done.passed && __builtin_fabsf(run_.loss) <= std::numeric_limits<float>::max()) {
            run_.sums.losses[run_.phase].add_mean(static_cast<double>(run_.loss), t_.loss_weight());
            if constexpr (detail::counts_in_training<Trainer>())
                if (run_.phase == 0) detail::count_accuracy_of_step(t_, run_.sums.own, b);
            run_.result.examples += done.examples;
        }
        if (after_) {
            sum_up();
            for (const detail::hook_calls& h : run_.hooks)
                if (h.after_step) {
                    h.after_step(h.hook, run_, b);
                    run_.know_members();
                }
        }
        run_.save_what_is_asked();
        if (run_.alone && run_.interrupted()) run_.stop("asked to stop");
        const bool more = !(run_.stopping() || enough_steps());
        if (more && done.join) admit();
        return more;
    }
    void sum_up() {
        run_.result.loss = run_.sums.losses[0].of_sum();
        if constexpr (detail::counts_in_training<Trainer>())
            run_.result.training_accuracy = run_.sums.accuracy_so_far();
    }
    /// The epoch's losses, which hooks of all members decide by.
    SINTER_COLD void tell_losses() {
        epoch_result& r = run_.result;
        std::vector<double> of_phases;
        for (const metrics::mean& m : run_.sums.losses)   // NaN: there was no step of it
            of_phases.push_back(m.weight() == 0 && m.of_sum() == 0 ? m.value() : m.of_sum());
        if constexpr (!detail::trains_alone<Trainer>)
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
        if (!o_.progress || !run_.chief || told_ || !(first_loss_ >= 0) ||
            !(loss > 1e3 * (first_loss_ > 1 ? first_loss_ : 1)))
            return;
        told_ = true;
        float rate = -1;
        detail::each_learning_rate(t_.optimizer(), t_.steps(), [&](float r, bool) { rate = r > rate ? r : rate; });
        std::string line =
            to_text({"the loss has grown a thousandfold since the first step: try a smaller learning rate"});
        if (rate >= 0) line += " than " + base::number_text(rate);
        std::fprintf(o_.progress, "%s\n", line.c_str());
    }
};

} // namespace sinter::detail
