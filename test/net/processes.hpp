// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/cluster.hpp>
#include <atomic>
#include <csignal>
#include <functional>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "net/own_addresses.hpp"

/// Real processes for tests: each is forked, does something, and hands back a text. None outlives the test, and one
/// that hangs is killed and answers "HUNG".
namespace sinter {

class processes {
public:
    ~processes() {
        for (child& c : children_) end(c);
    }
    /// Starts f in a process of its own. What it throws becomes the text "error: ...".
    int start(const std::function<std::string()>& f, double after = 0) {
        int ends[2];
        if (::pipe(ends) != 0) std::abort();
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::alarm(250);   // no test lasts so long
            ::close(ends[0]);
            for (const child& c : children_)
                if (!c.ended) ::close(c.pipe);
            std::string text;
            try {
                if (after > 0) ::usleep(static_cast<useconds_t>(after * 1e6));
                text = f();
            } catch (const std::exception& e) {
                text = std::string("error: ") + e.what();
            }
            const auto n = ::write(ends[1], text.data(), text.size());
            ::_exit(n == static_cast<ssize_t>(text.size()) ? 0 : 9);
        }
        ::close(ends[1]);
        children_.push_back({pid, ends[0], {}, false});
        return static_cast<int>(children_.size()) - 1;
    }
    void signal(int i, int number) { ::kill(at(i).pid, number); }
    pid_t pid(int i) { return at(i).pid; }
    /// Whether process i is over: result(i) then waits for nothing.
    bool ended(int i) {
        const child& c = at(i);
        pollfd p{c.pipe, 0, 0};
        return c.ended || (::poll(&p, 1, 0) > 0 && (p.revents & POLLHUP));
    }
    /// What process i handed back; "HUNG" if it is not over in time, "KILLED" if a signal ended it.
    std::string result(int i, double within = 60) {
        child& c = at(i);
        const double until = base::monotonic_seconds() + within;
        while (!c.ended) {
            pollfd p{c.pipe, POLLIN, 0};
            const double left = until - base::monotonic_seconds();
            if (left <= 0 || ::poll(&p, 1, static_cast<int>(left * 1000) + 1) == 0) {
                end(c);
                return "HUNG";
            }
            char buffer[4096];
            const auto n = ::read(c.pipe, buffer, sizeof buffer);
            if (n > 0) c.text.append(buffer, static_cast<std::size_t>(n));
            else end(c, false);
        }
        if (WIFEXITED(c.status) && WEXITSTATUS(c.status) != 0)   // a sanitizer's, which has found something at the end
            return c.text + "; exit status " + std::to_string(WEXITSTATUS(c.status));
        return c.text.empty() && WIFSIGNALED(c.status) ? "KILLED" : c.text;
    }

private:
    struct child {
        pid_t pid;
        int pipe;
        std::string text;
        bool ended;
        int status = 0;
    };
    std::vector<child> children_;
    child& at(int i) { return children_[static_cast<std::size_t>(i)]; }
    static void end(child& c, bool by_force = true) {
        if (c.ended) return;
        if (by_force) ::kill(c.pid, SIGKILL);
        ::waitpid(c.pid, &c.status, 0);
        ::close(c.pipe);
        c.ended = true;
    }
};

/// A T in memory that this process shares with those that it has forked or will fork. It stays until they have ended.
template <class T, class... Values>
T& in_shared_memory(Values... values) {
    void* const p = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) std::abort();
    return *new (p) T{values...};
}

/// What this process tells those that it has forked or will fork: to wait for it takes as long as it takes, where a
/// number of seconds or of rounds would be too few on a busy machine.
class shared_flag {
public:
    shared_flag() = default;
    shared_flag(const shared_flag&) = delete;
    shared_flag& operator=(const shared_flag&) = delete;
    ~shared_flag() { ::munmap(&set_, sizeof set_); }
    void set() const { set_ = true; }
    bool is_set() const { return set_; }
    /// Waits until it is set, or for as long as no test takes; returns is_set().
    bool wait(double within = 200) const {
        for (const double until = base::monotonic_seconds() + within; !set_ && base::monotonic_seconds() < until;)
            ::usleep(500);
        return set_;
    }

private:
    std::atomic<bool>& set_ = in_shared_memory<std::atomic<bool>>(false);
};

/// Settings of tests: a key, and a death that is noticed soon. A test in which nobody falls silent takes ten seconds or
/// so: a busy machine may let a process wait for one.
inline cluster_options quick(double dead_after = 1) {
    cluster_options o;
    o.job = "test";
    o.key = "a secret of the test";
    o.dead_after = dead_after;
    o.join_within = 10;
    return o;
}

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace sinter
