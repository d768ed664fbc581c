// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "descendants.hpp"
#include "options.hpp"
#include <sinter/io/throw_io_error.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

namespace launch {

/// --plan: runs the program once, with the description of the cluster in SINTER_PLAN, and returns its exit status. A
/// program that reads the description says so by a pipe (plan_request::from_environment()). One that does not would
/// train by itself instead: after a few seconds a line says so, and it is an error in the end.
inline int run_plan(const options& o) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) sinter::io::throw_io_error(errno, "cannot make a pipe", "--plan");
    const sinter::io::descriptor answer(ends[0]);
    sinter::io::descriptor other(ends[1]);
    struct stat s {};
    ::fstat(other.get(), &s);
    ::setenv("SINTER_PLAN", o.plan.c_str(), 1);
    ::setenv("SINTER_PLAN_FD", (std::to_string(other.get()) + ":" + std::to_string(s.st_ino)).c_str(), 1);
    for (const char* name : {"TF_CONFIG", "SINTER_SIZE"}) ::unsetenv(name);
    std::vector<std::string> arguments = o.command;
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);

    int refusal[2];
    if (::pipe2(refusal, O_CLOEXEC) != 0) sinter::io::throw_io_error(errno, "cannot make a pipe", "--plan");
    const sinter::io::descriptor refused(refusal[0]);
    sinter::io::descriptor refuses(refusal[1]);
    const pid_t parent = ::getpid(), child = ::fork();
    if (child < 0) sinter::io::throw_io_error(errno, "cannot start a process", "--plan");
    if (child == 0) {
        die_with(parent);
        ::fcntl(other.get(), F_SETFD, 0);
        ::execvp(argv[0], argv.data());
        const int reason = errno;
        [[maybe_unused]] const auto n = ::write(refuses.get(), &reason, sizeof reason);
        ::_exit(127);
    }
    other.close();
    refuses.close();
    int reason = 0, status = 0;
    if (sinter::io::uninterrupted([&] { return ::read(refused.get(), &reason, sizeof reason); }) == sizeof reason)
        sinter::io::throw_io_error(reason, "cannot start the program", o.command[0]);

    const auto has_asked = [&](int milliseconds) {
        pollfd p{answer.get(), POLLIN, 0};
        return ::poll(&p, 1, milliseconds) == 1 && (p.revents & POLLIN) != 0;
    };
    constexpr const char* needed = "print_plan_if_asked<MODEL>() at the beginning of its main() does (see planning.md)";
    bool asked = false, over = false;
    const double late = sinter::base::monotonic_seconds() + 5;
    for (bool reported = false; !over;) {
        asked = asked || has_asked(asked ? 0 : 20);
        if (asked || reported) {
            over = sinter::io::uninterrupted([&] { return ::waitpid(child, &status, 0); }) == child;
        } else {
            over = ::waitpid(child, &status, WNOHANG) == child;
            if (!over && (reported = sinter::base::monotonic_seconds() > late))
                std::fprintf(stderr, "sinter-launch: %s runs and has not asked for the plan yet: %s\n",
                             o.command[0].c_str(), needed);
        }
    }
    asked = asked || has_asked(0);
    const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (asked) return exit_status;
    std::fprintf(stderr, "sinter-launch: %s has ended and has not asked for the plan: %s\n", o.command[0].c_str(),
                 needed);
    return exit_status == 0 ? 1 : exit_status;
}

} // namespace launch
