// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <csignal>

namespace sinter::base::inline os {

/// Calls f(number) when the signal comes, on any thread and amid anything: f may do no more than set a
/// `volatile std::sig_atomic_t`, and call restore_default(). restored_signal.hpp puts back what was there before.
inline void handle_signal(int number, void (*f)(int)) { std::signal(number, f); }
/// The signal does from now on what it does to a program that does not handle it.
inline void restore_default(int number) { std::signal(number, SIG_DFL); }

/// The signals by which a program is asked to end: by a user at a terminal, by the system, and by a batch system
/// (Slurm) when its time is nearly up.
inline constexpr int asks_to_end[] = {SIGINT, SIGTERM, SIGUSR1};

} // namespace sinter::base::os
