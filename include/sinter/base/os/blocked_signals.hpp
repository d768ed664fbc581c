// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <csignal>
#include <pthread.h>

namespace sinter::base::inline os {

/// Blocks all signals on this thread for as long as it lives. Threads that are started meanwhile
/// never take one: signals are for the program's own threads.
class blocked_signals {
public:
    blocked_signals() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
};

} // namespace sinter::base::os
