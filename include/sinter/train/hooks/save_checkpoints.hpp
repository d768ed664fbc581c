// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/checkpoint_folder.hpp>
#include <sinter/train/checkpoint/run_checkpoint.hpp>
#include <sinter/train/hooks/timer.hpp>
#include <sinter/train/loop_run.hpp>
#include <sinter/train/members.hpp>
#include <cstdio>
#include <optional>

namespace sinter::inline SINTER_ORDINARY {

/// What save_checkpoints may be given.
struct save_options {
    std::int64_t every_steps = 0;   ///< by the model's number of steps
    double every_seconds = 0;       ///< 0 of both: after each epoch
    bool resume = false;            ///< go on where the newest file's run was, if there is a file
    int keep = 0;   ///< the newest so many files, in a folder of that name; 0: one file of that name
    /// A run that begins at the same step for so many times in a row, and does not get as far as
    /// another checkpoint, is given up: whatever it dies of will not go away. 0: never.
    int restarts_at_a_step = 5;
    double (*clock)() = base::monotonic_seconds;
};

/// Saves the whole run now and then, in a file that is always a whole one: the model, the
/// optimizer's memory, where the data are, and what hooks have counted
/// (train/checkpoint/run_checkpoint.hpp). Also where training is stopped, and at its end. A program
/// that is killed, and started again, ends where it would have ended:
///
///     model.train(data, {.epochs = 100}, slower, stop,
///                 save_checkpoints("run.safetensors", {.every_seconds = 600, .resume = true}));
///     model.train(data, {.epochs = 100}, slower, stop,
///                 save_checkpoints("run", {.every_steps = 1000, .resume = true, .keep = 3}));
///
/// Of several files the newest is the one that was written last, whatever its step: a run that was
/// taken back to an earlier step, by load(), or begun anew, is gone on with, and not the one before
/// it. One that was damaged is named and passed over, and the one that it has come from is taken. A
/// run that does not resume says which files it has found; they stay until `keep` newer ones, or
/// ones of the same step, have taken their places. Beside them lies a small file that says whose
/// they are: a run that another has replaced cannot write over them (io/run_record.hpp). Folders
/// that are missing are made.
///
/// Where several processes train the model all have this hook; the chief writes and reads, and
/// every_seconds is by its clock. The run goes on with any number of processes.
///
/// The data must be the same pipeline again, and the hooks the same in the same order. train() then
/// gives the results of the epochs that end in this call alone. A run that had ended does nothing
/// more, unless it is asked for more epochs or steps.
class save_checkpoints {
public:
    /// option_error where both steps and seconds are given, or a number is negative.
    SINTER_APART explicit save_checkpoints(std::string file, save_options o = {});

    SINTER_APART SINTER_COLD void resume(loop_run& run);
    SINTER_APART SINTER_COLD void begin(loop_run& run);
    SINTER_APART void after_step(loop_run& run, const batch_view&);
    /// Before the epoch counts as one that has ended: the run is to go on within it.
    SINTER_APART SINTER_COLD void pass_stopped(loop_run& run);
    SINTER_APART SINTER_COLD void epoch_end(loop_run& run);
    SINTER_APART SINTER_COLD void checkpoint_saved(training_run& run, const std::string&);
    SINTER_APART SINTER_COLD void end(loop_run& run);
    void describe(description& d) const { d("every_steps", o_.every_steps)("every_seconds", o_.every_seconds); }

private:
    SINTER_APART SINTER_COLD void load_found(loop_run& run, const safetensors::contents& f, const std::string& name);
    save_options o_;
    bool by_epochs_;
    training_parts::step_timer timer_;
    checkpoint_folder files_;
    run_record record_;
    std::optional<io::write_order> resumed_;   ///< of the file that this run goes on from
    int saved_epoch_ = 0;             ///< at whose end the file was written
    std::int64_t saved_step_ = -1;    ///< of the last file
    bool trained_ = false, stopped_ = false;   ///< in this call: there was a step; the last one within a pass

    SINTER_APART SINTER_COLD void tell_of_resuming(const std::string& file, std::int64_t step, bool chief) const;
    /// Of a run that goes on from none of them.
    SINTER_APART SINTER_COLD void tell_what_is_found(const checkpoint_folder::list& found, std::int64_t step) const;
    /// What this run has come from: what it has resumed from, else, if its model has steps, the file of that step,
    /// which load() may have read.
    SINTER_APART SINTER_COLD run_record::beginning beginning(const checkpoint_folder::list& found,
                                                             std::int64_t step) const;
    SINTER_APART SINTER_COLD void save(loop_run& run);
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_APART save_checkpoints::save_checkpoints(std::string file, save_options o)
    : o_(o), by_epochs_(o.every_steps == 0 && o.every_seconds == 0),
      timer_(by_epochs_ ? 1 : o.every_steps, o.every_seconds, "save_checkpoints", o.clock),
      files_(std::move(file), o.keep), record_(files_.record()) {
    if (o.keep < 0 || o.restarts_at_a_step < 0)
        throw option_error("files to keep or restarts", "save_checkpoints",
                           to_text({o.keep, ", ", o.restarts_at_a_step}), "0 or more");
}
SINTER_APART void save_checkpoints::resume(loop_run& run) {
    run.keeps_runs = true;
    resumed_.reset();
    if (!o_.resume) return;
    session_base& session = run.session();
    const trainer_facts& facts = run.trained.state().facts;
    std::string found;
    if (training_parts::has_hashed_tables(facts)) {   // a file that need not fit in memory
        const auto open = [&] {
            std::optional<safetensors::file> f;
            found = files_.newest(
                [&](const std::string& file) { f = training_parts::open_trainers_file(facts, file); });
            return f;
        };
        training_parts::with_opened_file(session, facts, files_.path(), saved::whole, open,
                                         [&](const safetensors::contents& f) { load_found(run, f, found); });
        return;
    }
    std::vector<std::byte> bytes;
    training_parts::by_the_same_members(session, [&] {
        training_parts::by_the_chief(session, "read", files_.path(), [&] { found = files_.read_newest(bytes); });
        training_parts::bytes_of_chief(session, bytes);
    });
    if (bytes.empty()) return;
    load_found(run, safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()),
                                       found.empty() ? files_.path() : found), found);
}
SINTER_APART void save_checkpoints::begin(loop_run& run) {
    training_parts::by_the_chief(run.session(), "take over", record_.path(), [&] {
        files_.make_folder();
        const checkpoint_folder::list found = files_.all();
        if (!resumed_) tell_what_is_found(found, run.step);
        const std::int64_t epoch = training_parts::chief_since(run.session());
        const std::int64_t times = record_.take(o_.resume ? run.step : -1, epoch, beginning(found, run.step));
        if (o_.resume && o_.restarts_at_a_step > 0 && times > o_.restarts_at_a_step)
            throw data_error("the run has begun here again and again, and never got as far as another checkpoint",
                             to_text({files_.path(), ", step ", run.step}), to_text({times - 1, " restarts"}),
                             to_text({"at most ", o_.restarts_at_a_step, ". Once the cause is found: remove ",
                                     record_.path(), ", or the newest checkpoint to go on from the one before"}));
    });
    timer_.begin();
    trained_ = stopped_ = false;
    saved_epoch_ = 0;
    saved_step_ = -1;
}
SINTER_APART void save_checkpoints::after_step(loop_run& run, const batch_view&) {
    trained_ = true;
    if (by_epochs_) return;
    if (o_.every_steps > 0 || run.alone) {
        if (timer_.due(run.step)) save(run);
    } else {   // by the chief's clock, whose word comes with the next step
        if (run.chief && timer_.due(run.step)) run.ask_to_save();
        if (!run.save_is_asked) return;
        timer_.restart();   // of all members: whoever becomes the chief goes on with it
        save(run);
    }
}
SINTER_APART void save_checkpoints::pass_stopped(loop_run& run) {
    stopped_ = true;
    save(run);
}
SINTER_APART void save_checkpoints::epoch_end(loop_run& run) {
    if (!by_epochs_ || stopped_) return;
    saved_epoch_ = run.epoch;
    save(run);
}
SINTER_APART void save_checkpoints::checkpoint_saved(training_run& run, const std::string&) {
    if (run.chief) files_.remove_old(record_);
}
SINTER_APART void save_checkpoints::end(loop_run& run) {
    const bool saved = saved_epoch_ == run.epoch || stopped_;   // but others may have gone on since then
    if (trained_ && (!saved || saved_step_ != run.step)) save(run);
    if (run.chief) record_.ended();
}
SINTER_APART void save_checkpoints::load_found(loop_run& run, const safetensors::contents& f, const std::string& name) {
    run.archive().load(f);
    resumed_ = io::write_order::of(f.metadata);
    tell_of_resuming(name.empty() ? f.source : name, run.trained.state().steps(), run.chief);
}
SINTER_APART void save_checkpoints::tell_of_resuming(const std::string& file, std::int64_t step, bool chief) const {
    std::string text = to_text({"resumed from step ", step});
    if (chief) {
        checkpoint_folder::list others = files_.all();
        std::erase_if(others, [](const training_parts::known_checkpoint& c) { return c.in_history; });
        if (!others.empty())
            text += to_text({". Those of ", training_parts::steps_of(others),
                            " are of another run, or were taken back, and are not gone on with"});
    }
    base::say(chief ? message_level::normal : message_level::detailed, text, file);
}
SINTER_APART void save_checkpoints::tell_what_is_found(const checkpoint_folder::list& found, std::int64_t step) const {
    if (found.empty()) return;
    bool later = false;
    for (const training_parts::known_checkpoint& c : found) later = later || c.step > step;
    const std::string stays =
        to_text({"They stay until newer ones have taken their places (keep = ", files_.keeps(),
                 "), and a later run resumes from whichever was written last"});
    base::say(later ? message_level::warning : message_level::normal,
              to_text({"has ", found.size(), found.size() == 1 ? " checkpoint, of " : " checkpoints, of ",
                      training_parts::steps_of(found), ". This run begins at step ", step, " and does not resume. ",
                      files_.keeps() == 0 ? "Its first checkpoint takes the place of that one" : stays}),
              files_.path());
}
SINTER_APART run_record::beginning save_checkpoints::beginning(const checkpoint_folder::list& found,
                                                               std::int64_t step) const {
    run_record::beginning b{.step = step};
    for (const training_parts::known_checkpoint& c : found) b.after = std::max(b.after, c.order.run);
    if (resumed_) {
        b.first = resumed_->first;
    } else if (step > 0 && !found.empty()) {
        const auto same = std::ranges::find(found, step, &training_parts::known_checkpoint::step);
        b.first = (same == found.end() ? found.front() : *same).order.first;
    }
    return b;
}
SINTER_APART void save_checkpoints::save(loop_run& run) {
    saved_step_ = run.step;
    run.save_checkpoint(files_.name(run.step), &record_);
}

} // namespace sinter
#endif
