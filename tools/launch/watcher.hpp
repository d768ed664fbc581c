// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "descendants.hpp"
#include <sinter/io/throw_io_error.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

/// The process that runs the job learns of the user's end by a signal, which does nothing while it is stopped (by
/// ^Z, a debugger, `kill -STOP`): its members would stay for ever. So a third process, in a group of its own, waits
/// for the end of either. It outlives the first one by as long as the job takes to end.
namespace launch {

/// In the process that runs the job. `user`: a pipe whose other end the process that the user started holds for as
/// long as it lives, and nobody else. Where the system has no descriptors of processes there is no watcher.
inline void begin_watcher(sinter::io::descriptor user, double grace) {
    using sinter::io::descriptor;
    const descriptor of_job(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    if (!of_job) return;
    const pid_t watcher = ::fork();
    if (watcher > 0) spared() = watcher;
    if (watcher != 0) return;
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {0, 1, 2}) ::dup2(null, fd);   // who reads the launcher's output need not wait for this
    const auto tell = [&](int number) { ::syscall(SYS_pidfd_send_signal, of_job.get(), number, nullptr, 0); };
    const auto is_over = [&](int milliseconds) {
        pollfd p{of_job.get(), POLLIN, 0};
        return ::poll(&p, 1, milliseconds) == 1;
    };
    pollfd both[] = {{user.get(), POLLIN, 0}, {of_job.get(), POLLIN, 0}};
    while (::poll(both, 2, -1) < 0 && errno == EINTR) {}
    if ((both[1].revents & POLLIN) != 0) ::_exit(0);
    // Members end within twice their grace; the process that runs them has a little longer.
    const double until = sinter::base::monotonic_seconds() + 2 * grace + 5;
    // The signal that it asked for (PR_SET_PDEATHSIG) is there already, and is read once it goes on.
    do tell(SIGCONT);
    while (!is_over(300) && sinter::base::monotonic_seconds() < until);
    tell(SIGKILL);
    ::_exit(0);
}

} // namespace launch
