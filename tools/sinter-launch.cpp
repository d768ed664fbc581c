// SPDX-License-Identifier: BSL-1.0
// sinter-launch -n 4 -- PROGRAM ARGUMENTS: a cluster on this machine. doc/cluster.md describes it.
//
// Two processes: the one that the user started waits; the other one, its child, runs the job. Each
// adopts orphans, and each ends all that is below it when the other one dies, so that not even
// SIGKILL leaves members behind. A third one (launch/watcher.hpp) sees to it that the second is not
// stopped then.
#include "launch/job.hpp"
#include "launch/plan.hpp"
#include "launch/watcher.hpp"

namespace {

using namespace launch;

/// Hands SIGINT, SIGTERM and SIGHUP on as what can be read from a descriptor; SIGCHLD too.
descriptor signals_to_read() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, number);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    return descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int run_job(const options& o, const descriptor& signals) {
    const descriptor key = key_in_memory();
    const std::string name = "launch-" + random_hex(8);
    display shown(o.progress, o.json);
    for (int attempt = 0;; ++attempt) {
        job j(o, name, key, signals, attempt, shown);
        j.run();
        if (j.signal() != 0) return 128 + j.signal();
        const member* const failed = j.first_failure();
        if (!failed) return 0;
        const std::string what = failed->name() + " was the first to fail: " + failed->ending();
        if (attempt == o.restarts || o.elastic || o.replicas == 2) {
            shown.say(what + (o.restarts ? "; it is not restarted again" : ""), sinter::message_level::warning);
            return 1;
        }
        shown.say(what + "; restart " + std::to_string(attempt + 1) + " of " + std::to_string(o.restarts));
    }
}

/// The outer process: hands signals on, and ends what its child leaves behind.
int guard(pid_t child, const descriptor& signals) {
    for (;;) {
        pollfd ready{signals.get(), POLLIN, 0};
        ::poll(&ready, 1, -1);
        for (signalfd_siginfo info; ::read(signals.get(), &info, sizeof info) == sizeof info;)
            if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)   // a terminal's reach the child by itself
                ::kill(child, static_cast<int>(info.ssi_signo)), ::kill(child, SIGCONT);   // it may be stopped
        int status = 0;
        for (pid_t gone; (gone = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            if (gone != child) continue;
            kill_descendants();
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    while (true) {   // 0, 1 and 2 are open from here on
        const int fd = ::open("/dev/null", O_RDWR);
        if (fd > 2) ::close(fd);
        if (fd > 2 || fd < 0) break;
    }
    try {
        const auto o = parse(argc, argv);
        if (!o) return 0;
        if (!o->plan.empty()) return run_plan(*o);
        if (!o->verbosity.empty()) ::setenv("SINTER_VERBOSITY", o->verbosity.c_str(), 1);
        const descriptor signals = signals_to_read();
        adopt_orphans();
        std::fflush(nullptr);
        int ends[2] = {-1, -1};
        (void)!::pipe2(ends, O_CLOEXEC);
        descriptor watched(ends[0]), lives(ends[1]);
        const pid_t parent = ::getpid(), child = ::fork();
        if (child < 0) sinter::io::throw_io_error(errno, "cannot start a process", "sinter-launch");
        if (child > 0) {
            watched.close();
            return guard(child, signals);
        }
        lives.close();
        adopt_orphans();
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);   // as if the user had sent it; the members then have their grace
        if (::getppid() != parent) return 128 + SIGKILL;
        if (watched) begin_watcher(std::move(watched), o->grace);
        return run_job(*o, signals);
    } catch (const sinter::option_error& e) {
        std::fprintf(stderr, "sinter-launch: %s\n", e.what());
        return 2;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "sinter-launch: %s\n", e.what());
        return 127;
    }
}
