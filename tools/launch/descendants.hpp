// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/// Nothing that a job began may outlive it. A process that adopts orphans (PR_SET_CHILD_SUBREAPER)
/// becomes the parent of whatever its dead children leave behind, in whichever process group or
/// session, so that killing children until there are none leaves nothing.
namespace launch {

inline void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

/// The processes whose parent this one is.
inline std::vector<pid_t> children() {
    std::vector<pid_t> out;
    const std::string own = std::to_string(::getpid());
    std::ifstream list("/proc/self/task/" + own + "/children");
    for (pid_t child; list >> child;) out.push_back(child);
    return out;
}

/// A child that is not of the job, and ends by itself once this process has (launch/watcher.hpp); 0: there is none.
inline pid_t& spared() {
    static pid_t pid = 0;
    return pid;
}

/// Kills all children, and what they leave behind, until there are none.
inline void kill_descendants() {
    // One that hangs in the kernel cannot be waited for.
    const double patience = sinter::base::monotonic_seconds() + 10;
    while (sinter::base::monotonic_seconds() < patience) {
        std::vector<pid_t> all = children();
        std::erase(all, spared());
        if (all.empty() && spared() != 0) return;
        for (const pid_t child : all) ::kill(child, SIGKILL);
        const pid_t gone = ::waitpid(-1, nullptr, WNOHANG);
        if (gone < 0 && errno == ECHILD) return;
        if (gone <= 0) ::usleep(2000);
    }
}

/// In a child, directly after fork(): it dies when `parent` does.
inline void die_with(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(128 + SIGKILL);   // it was dead before we asked
}

} // namespace launch
