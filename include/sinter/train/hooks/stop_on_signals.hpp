// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/restored_signal.hpp>
#include <sinter/base/os/signal_handler.hpp>
#include <sinter/train/hooks/hook.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// While one of these lives, SIGINT, SIGTERM and SIGUSR1 (which Slurm sends when time is nearly up)
/// stop training behind a step, or within the validation that is going on, so that save_checkpoints
/// saves the run and the program ends by itself. Where several processes train the model it is
/// enough that one of them has the signal, which may be a parameter server: all stop behind the
/// same step. A second signal of a kind does what it does without this. One at a time. A hook:
///
///     stop_on_signals signals;
///     model.train(data, {.epochs = 100}, signals, save_checkpoints("run", {.keep = 3, .resume = true}));
///     if (signals) return 3;   // not done yet
///
/// An epoch that was stopped so is not measured: it goes on when the run does. (Ctrl-C at a
/// terminal, where what there is shall be measured: stop_on_interrupt.)
class stop_on_signals {
public:
    stop_on_signals() {
        seen = 0;
        for (const int number : base::os::asks_to_end) base::os::handle_signal(number, &note);
    }
    stop_on_signals(const stop_on_signals&) = delete;
    stop_on_signals& operator=(const stop_on_signals&) = delete;

    SINTER_COLD void begin(training_run& run) { run.stop_when(&asked); }
    SINTER_COLD void serve(training_run& run) { run.stop_when(&asked); }
    explicit operator bool() const { return seen != 0; }   ///< has this process been asked?
    static bool asked() { return seen != 0; }
    int signal() const { return seen; }                    ///< which came first; 0: none

private:
    static inline volatile std::sig_atomic_t seen = 0;
    base::restored_signal before_[3]{base::restored_signal(SIGINT), base::restored_signal(SIGTERM),
                                     base::restored_signal(SIGUSR1)};

    static void note(int number) {
        if (!seen) seen = number;
        base::os::restore_default(number);
    }
};

} // namespace sinter
