// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/restored_signal.hpp>
#include <sinter/base/os/signal_handler.hpp>
#include <sinter/train/hooks/hook.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// While one of these lives, the first Ctrl-C (SIGINT) only asks training to stop after the step
/// that is being done, without an error; a second one ends the program as ever. One at a time. A
/// hook:
///
///     model.train(data, {.epochs = 100}, stop_on_interrupt());
class stop_on_interrupt {
public:
    stop_on_interrupt() {
        seen = 0;
        base::os::handle_signal(SIGINT, [](int) {
            seen = 1;
            base::os::restore_default(SIGINT);
        });
    }
    stop_on_interrupt(const stop_on_interrupt&) = delete;
    stop_on_interrupt& operator=(const stop_on_interrupt&) = delete;

    void after_step(training_run& run, const batch_view&) {
        if (seen) run.ask_to_stop("interrupt");
    }
    SINTER_COLD void serve(training_run& run) {
        run.stop_when([] { return seen != 0; });
    }
    explicit operator bool() const { return seen != 0; }   ///< has it been asked?

private:
    static inline volatile std::sig_atomic_t seen = 0;
    base::restored_signal before_{SIGINT};
};

} // namespace sinter
