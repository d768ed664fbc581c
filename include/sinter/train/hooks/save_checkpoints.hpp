// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/run_checkpoint.hpp>
#include <sinter/train/hooks/timer.hpp>
#include <sinter/train/loop.hpp>
#include <unistd.h>

namespace sinter::inline SINTER_TARGET {

struct save_options {
    std::int64_t every_steps = 0;   ///< by the model's number of steps
    double every_seconds = 0;       ///< 0 of both: after each epoch
    bool resume = false;            ///< go on where the file's run was, if there is a file
    double (*clock)() = monotonic_seconds;
};

/// Saves the whole run now and then, in one file that is always a whole one: the model, the
/// optimizer's memory, where the data are, and what hooks have counted
/// (train/checkpoint/run_checkpoint.hpp). Also where training is stopped, and at its end. A program
/// that is killed, and started again, ends where it would have ended:
///
///     model.train(data, {.epochs = 100}, slower, stop, save_checkpoints("run.safetensors", {.every_seconds = 600, .resume = true}));
///
/// The data must be the same pipeline again, and the hooks the same in the same order. train() then
/// gives the results of the epochs that end in this call alone. A run that had ended does nothing
/// more, unless it is asked for more epochs or steps.
class save_checkpoints {
public:
    /// option_error where both steps and seconds are given.
    explicit save_checkpoints(std::string file, save_options o = {})
        : file_(std::move(file)), o_(o), by_epochs_(o.every_steps == 0 && o.every_seconds == 0),
          timer_(by_epochs_ ? 1 : o.every_steps, o.every_seconds, "save_checkpoints", o.clock) {}

    template <class Run>
    SINTER_COLD void resume(Run& run) {
        if (o_.resume && ::access(file_.c_str(), F_OK) == 0) run.load_checkpoint(file_);
    }
    SINTER_COLD void begin(training_run&) {
        timer_.begin();
        trained_ = stopped_ = false;
        saved_epoch_ = 0;
    }
    template <class Run>
    void after_step(Run& run, const batch_view&) {
        trained_ = true;
        if (!by_epochs_ && timer_.due(run.step)) run.save_checkpoint(file_);
    }
    /// Before the epoch counts as one that has ended: the run is to go on within it.
    template <class Run>
    SINTER_COLD void pass_stopped(Run& run) {
        stopped_ = true;
        run.save_checkpoint(file_);
    }
    template <class Run>
    SINTER_COLD void epoch_end(Run& run) {
        if (!by_epochs_ || stopped_) return;
        saved_epoch_ = run.epoch;
        run.save_checkpoint(file_);
    }
    template <class Run>
    SINTER_COLD void end(Run& run) {
        if (trained_ && !stopped_ && saved_epoch_ != run.epoch) run.save_checkpoint(file_);
    }

private:
    std::string file_;
    save_options o_;
    bool by_epochs_;
    detail::step_timer timer_;
    int saved_epoch_ = 0;   ///< at whose end the file was written
    bool trained_ = false, stopped_ = false;   ///< in this call: there was a step; the last one within a pass
};

} // namespace sinter
