// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/checkpoint_folder.hpp>
#include <sinter/train/checkpoint/run_checkpoint.hpp>
#include <sinter/train/hooks/timer.hpp>
#include <sinter/train/loop.hpp>
#include <cstdio>
#include <optional>

namespace sinter::inline SINTER_TARGET {

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
/// Of several files the newest that is whole is taken: one that was damaged is named on stderr and
/// passed over. Beside them lies a small file that says whose they are: a run that another has
/// replaced cannot write over them (io/run_record.hpp).
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
    explicit save_checkpoints(std::string file, save_options o = {})
        : o_(o), by_epochs_(o.every_steps == 0 && o.every_seconds == 0),
          timer_(by_epochs_ ? 1 : o.every_steps, o.every_seconds, "save_checkpoints", o.clock),
          files_(std::move(file), o.keep), record_(files_.record()) {
        if (o.keep < 0 || o.restarts_at_a_step < 0)
            throw option_error("files to keep or restarts", "save_checkpoints",
                               joined({o.keep, ", ", o.restarts_at_a_step}), "0 or more");
    }

    template <class Run>
    SINTER_COLD void resume(Run& run) {
        run.keeps_runs = true;
        if (!o_.resume) return;
        using trainer = std::remove_cvref_t<decltype(run.model)>;
        auto& session = run.model.session();
        if constexpr (detail::has_hashed_tables<trainer>()) {   // a file that need not fit in memory
            const auto open = [&] {
                std::optional<safetensors::file> f;
                files_.newest([&](const std::string& file) { f = detail::open_trainers_file<trainer>(file); });
                return f;
            };
            detail::with_opened_file<trainer>(session, files_.path(), saved::whole, open,
                                              [&](const auto& f) { load_run(run, f); });
        } else {
            std::vector<std::byte> bytes;
            std::string found;
            detail::by_the_same_members(session, [&] {
                detail::by_the_chief(session, "read", files_.path(), [&] { found = files_.read_newest(bytes); });
                detail::bytes_of_chief(session, bytes);
            });
            if (bytes.empty()) return;
            load_run(run, safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()),
                                             found.empty() ? files_.path() : found));
        }
    }
    template <class Run>
    SINTER_COLD void begin(Run& run) {
        detail::by_the_chief(run.model.session(), "take over", record_.path(), [&] {
            files_.make_folder();
            const std::int64_t epoch = detail::chief_since(run.model.session());
            const std::int64_t times = record_.take(o_.resume ? run.step : -1, epoch);
            if (o_.resume && o_.restarts_at_a_step > 0 && times > o_.restarts_at_a_step)
                throw data_error("the run has begun here again and again, and never got as far as another checkpoint",
                                 joined({files_.path(), ", step ", run.step}), joined({times - 1, " restarts"}),
                                 joined({"at most ", o_.restarts_at_a_step, ". Once the cause is found: remove ",
                                         record_.path(), ", or the newest checkpoint to go on from the one before"}));
        });
        timer_.begin();
        trained_ = stopped_ = false;
        saved_epoch_ = 0;
        saved_step_ = -1;
    }
    template <class Run>
    void after_step(Run& run, const batch_view&) {
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
    /// Before the epoch counts as one that has ended: the run is to go on within it.
    template <class Run>
    SINTER_COLD void pass_stopped(Run& run) {
        stopped_ = true;
        save(run);
    }
    template <class Run>
    SINTER_COLD void epoch_end(Run& run) {
        if (!by_epochs_ || stopped_) return;
        saved_epoch_ = run.epoch;
        save(run);
    }
    SINTER_COLD void checkpoint_saved(training_run& run, const std::string&) {
        if (run.chief) files_.remove_old(record_);
    }
    template <class Run>
    SINTER_COLD void end(Run& run) {
        const bool saved = saved_epoch_ == run.epoch || stopped_;   // but others may have gone on since then
        if (trained_ && (!saved || saved_step_ != run.step)) save(run);
        if (run.chief) record_.ended();
    }

private:
    save_options o_;
    bool by_epochs_;
    detail::step_timer timer_;
    checkpoint_folder files_;
    run_record record_;
    int saved_epoch_ = 0;             ///< at whose end the file was written
    std::int64_t saved_step_ = -1;    ///< of the last file
    bool trained_ = false, stopped_ = false;   ///< in this call: there was a step; the last one within a pass

    template <class Run>
    void save(Run& run) {
        saved_step_ = run.step;
        run.save_checkpoint(files_.name(run.step), &record_);
    }
};

} // namespace sinter
