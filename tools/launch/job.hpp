// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "display.hpp"
#include "options.hpp"
#include "slow_member.hpp"
#include <algorithm>
#include <poll.h>
#include <sys/signalfd.h>
#include <utility>

namespace launch {

/// One attempt at the job: starts all members and waits until the last one has ended, by itself or
/// by force.
///
/// Members have `grace` seconds to end by themselves after the first failure, then SIGTERM, and as
/// long again until they are killed. In an elastic job a failure ends nobody else: the member is
/// started again, as long as restarts are left, and the job has succeeded if one that trains has.
/// So it is with servers that keep each part twice. A signal to the launcher is handed on as
/// SIGTERM at once, a second one kills. Servers that still run `grace` seconds after all that train
/// have ended are asked to end, likewise; the evaluator may take its time.
class job {
public:
    job(const options& o, const std::string& name, const descriptor& key, const descriptor& signals, int attempt,
        display& d)
        : options_(o), key_(key), signals_(signals), display_(d) {
        environment_.set("SINTER_JOB", name + "-" + std::to_string(attempt));
        environment_.set("SINTER_RESTART", std::to_string(attempt));
        if (o.spares > 0) environment_.set("SINTER_SPARES", std::to_string(o.spares));
        for (int i = 0; i < o.workers + o.spares; ++i) members_.emplace_back("worker", i);
        for (int i = 0; i < o.servers; ++i) members_.emplace_back("ps", i);
        if (o.evaluator) members_.emplace_back("evaluator", 0);
    }
    ~job() { kill_descendants(); }

    /// Throws io_error where the program cannot be started.
    void run() {
        const auto trainers = static_cast<std::size_t>(options_.workers + options_.spares);
        cores_ = share_cores(options_.share_cores ? trainers : SIZE_MAX);
        for (member& m : members_) begin(m);
        while (any_running()) {
            wait();
            reap();
            escalate();
            if (const auto news = slow_.look(members_, sinter::base::monotonic_seconds())) {
                display_.say(news->text);
                display_.note_slow(members_[news->member], news->slow);
            }
            display_.progress(members_);
        }
        kill_descendants();   // what members have left behind may still hold their output
        for (member& m : members_) drain(m, true);
        display_.finish(members_);
    }

    const member* first_failure() const {
        const int failed = first_failure_ >= 0 || ended_well_ ? first_failure_ : first_that_went_;
        return failed < 0 ? nullptr : &members_[static_cast<std::size_t>(failed)];
    }
    int signal() const { return signal_; }   ///< 0, or the first one that came to the launcher

private:
    void begin(member& m) {
        const cpu_set_t* own = m.trains() && !cores_.empty() ? &cores_[static_cast<std::size_t>(m.index)] : nullptr;
        start(m, members_, options_.command, environment_, key_, own, options_.workers + options_.spares);
    }
    /// Whether others go on without it.
    bool may_go(const member& m) const {
        return (options_.elastic && m.trains()) || (options_.replicas == 2 && m.role == "ps");
    }
    /// Of such a one that has failed: started again where that is allowed. The others go on in any
    /// case.
    void go_on_without(member& m) {
        if (!ended_well_ && restarts_ < options_.restarts) {
            ++restarts_;
            display_.say(m.name() + " is started again; restart " + std::to_string(restarts_) + " of " +
                         std::to_string(options_.restarts));
            m.begin_anew();
            environment_.set("SINTER_RESTART", std::to_string(restarts_));
            begin(m);
        } else if (std::ranges::none_of(members_, [](const member& x) { return x.trains() && x.running(); })) {
            deadline_ = sinter::base::monotonic_seconds() + options_.grace;   // nobody is left to go on
        }
    }
    bool any_running() const {
        return std::ranges::any_of(members_, [](const member& m) { return m.running(); });
    }

    /// Until something happens; takes in output, progress and signals.
    void wait() {
        std::vector<pollfd> fds{{signals_.get(), POLLIN, 0}};
        for (const member& m : members_)
            for (const descriptor* d : {&m.output[0], &m.output[1], &m.progress}) fds.push_back({d->get(), POLLIN, 0});
        double seconds = std::min(display_.due(), 3600.);
        for (const double deadline : {deadline_, servers_deadline_})
            if (deadline > 0) seconds = std::min(seconds, std::max(0., deadline - sinter::base::monotonic_seconds()));
        ::poll(fds.data(), fds.size(), static_cast<int>(seconds * 1000) + 1);
        for (signalfd_siginfo info; ::read(signals_.get(), &info, sizeof info) == sizeof info;)
            if (info.ssi_signo != SIGCHLD) asked(static_cast<int>(info.ssi_signo));
        for (member& m : members_) drain(m, false);
    }

    void drain(member& m, bool all) {
        for (int stream = 0; stream < 2; ++stream) {
            auto& from = m.output[static_cast<std::size_t>(stream)];
            pollfd ready{from.get(), POLLIN, 0};
            while (from && ::poll(&ready, 1, 0) == 1) {
                char bytes[1 << 16];
                const auto n = ::read(from.get(), bytes, sizeof bytes);
                if (n > 0) take(m, stream, {bytes, static_cast<std::size_t>(n)});
                else if (n == 0 || errno != EINTR) from.close();
                if (!all) break;   // the others' turn
            }
            if (all || !from) take_rest(m, stream);
        }
        char packet[2000];
        for (ssize_t n; m.progress && (n = ::recv(m.progress.get(), packet, sizeof packet, MSG_DONTWAIT)) >= 0;) {
            if (n == 0) m.progress.close();
            else m.take_report({packet, static_cast<std::size_t>(n)}), display_.show_report(m);
        }
    }
    void take(member& m, int stream, std::string_view text) {
        std::string& line = m.unended[static_cast<std::size_t>(stream)];
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            line += text.substr(0, end);
            if (end == text.npos && line.size() < longest_line) return;
            take_rest(m, stream, true);
            text.remove_prefix(end == text.npos ? text.size() : end + 1);
        }
    }
    void take_rest(member& m, int stream, bool even_empty = false) {
        std::string& line = m.unended[static_cast<std::size_t>(stream)];
        if (line.empty() && !even_empty) return;
        display_.line(m, stream, line);
        if (stream == 1 && !line.empty()) m.last_words = line.substr(0, 500);
        line.clear();
    }

    /// Notes who has ended.
    void reap() {
        for (int status; true;) {
            const pid_t gone = ::waitpid(-1, &status, WNOHANG);
            if (gone <= 0) return;
            for (std::size_t i = 0; i < members_.size(); ++i) {
                member& m = members_[i];
                if (m.pid != gone) continue;   // an orphan that we have adopted
                m.status = status;
                drain(m, true);
                if (m.trains() && !m.failed()) ended_well_ = true;
                const bool was_asked = signal_ != 0 || (m.role == "ps" && servers_asked_);
                if (!m.failed() || was_asked) continue;
                if (may_go(m)) {
                    if (first_that_went_ < 0) first_that_went_ = static_cast<int>(i);
                    if (!ended_well_) report_failure(m);
                    go_on_without(m);
                } else if (first_failure_ < 0) {
                    first_failure_ = static_cast<int>(i);
                    report_failure(m);
                    deadline_ = sinter::base::monotonic_seconds() + options_.grace;
                }
            }
        }
    }

    void report_failure(const member& m) {
        const std::string last = m.last_words.empty() ? "" : "; its last line: " + m.last_words;
        display_.say(m.name() + " failed: " + m.ending() + last, sinter::message_level::warning);
    }

    void asked(int number) {
        const double now = sinter::base::monotonic_seconds();
        if (signal_ == 0) {
            signal_ = number, asked_at_ = now;
            display_.say(std::string(::strsignal(number)) + ": all members are asked to stop");
            escalate_now();
        } else if (now - asked_at_ > 0.5) {   // not the same one again, by way of the process group
            for (const member& m : members_) m.signal(SIGKILL);
        }
    }

    /// Sends SIGTERM when it is time, SIGKILL when it is again.
    void escalate() {
        const bool trained = std::ranges::all_of(members_, [](const member& m) { return !m.trains() || m.status; });
        const double now = sinter::base::monotonic_seconds();
        if (trained && servers_deadline_ == 0) servers_deadline_ = now + options_.grace;
        if (servers_deadline_ > 0 && now >= servers_deadline_) {
            for (const member& m : members_)
                if (m.role == "ps") m.signal(servers_asked_ ? SIGKILL : SIGTERM);
            servers_asked_ = true;
            servers_deadline_ = now + options_.grace;
        }
        if (deadline_ > 0 && now >= deadline_) escalate_now();
    }
    void escalate_now() {
        const int number = std::exchange(asked_to_end_, true) ? SIGKILL : SIGTERM;
        for (const member& m : members_) m.signal(number);
        deadline_ = sinter::base::monotonic_seconds() + options_.grace;
    }

    static constexpr std::size_t longest_line = 1 << 16;
    const options& options_;
    const descriptor& key_;
    const descriptor& signals_;
    display& display_;
    variables environment_;
    std::vector<member> members_;
    slow_member slow_;
    std::vector<cpu_set_t> cores_;   // of each that trains; empty: they have all
    int first_failure_ = -1, signal_ = 0, restarts_ = 0;
    int first_that_went_ = -1;       // of an elastic job: a failure if nobody ends well
    bool ended_well_ = false;        // one that trains has
    bool asked_to_end_ = false, servers_asked_ = false;
    double asked_at_ = 0;
    double deadline_ = 0;           // when members that still run get the next signal; 0: never
    double servers_deadline_ = 0;   // when servers that still run are
};

} // namespace launch
