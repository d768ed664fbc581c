// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/cluster_options.hpp>
#include <sinter/net/control_message.hpp>
#include <sinter/net/event_loop.hpp>
#include <atomic>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Where this process is; written by the thread that trains, read by the loop's.
struct progress_marks {
    std::atomic<std::int64_t> step{-1};
    std::atomic<const char*> operation{""};
    std::atomic<std::uint64_t> count{0};
};

/// What is known of a member.
struct member_status {
    std::int64_t step = -1;
    std::string operation;
    double idle = 0;      // seconds since it got on, as it reported last
    double silent = 0;    // seconds since anything came from it
    bool left = false;    // it has done its part
    std::uint64_t progress = 0;
    double last_received = 0, last_heartbeat = 0;
};

/// Who is dead, and who lives but does not get on. Every member says five times within `dead_after`
/// that it lives. One from which nothing came for so long is dead; this process itself was taken for
/// dead if it did not run for so long (it was stopped). Lives on the loop's thread.
class liveness {
public:
    struct calls {
        std::function<void(int, const message::heartbeat&)> send;
        std::function<void(int, std::int64_t step, const std::string& operation, std::string cause)> failed;
    };
    liveness(event_loop& loop, const cluster_options& o, int self, int size, const progress_marks& own, calls on)
        : own_(own), timer_(loop), on_(std::move(on)), members_(static_cast<std::size_t>(size)),
          dead_after_(o.dead_after), every_(o.heartbeat_every()), stuck_after_(o.stuck_after()), self_(self) {}

    SINTER_COLD void begin() {
        const double now = base::monotonic_seconds();
        for (member_status& m : members_) m.last_received = m.last_heartbeat = now;
        ran_at_.store(now);
        moved_at_ = sent_at_ = now;
        next();
    }
    SINTER_COLD void end() {
        timer_.off();
        ran_at_.store(0);
    }
    /// Bytes came from this member.
    void received(int rank) { of(rank).last_received = base::monotonic_seconds(); }
    SINTER_COLD void received(int rank, const message::heartbeat& h) {
        member_status& m = of(rank);
        m.last_received = m.last_heartbeat = base::monotonic_seconds();
        m.step = h.step;
        m.operation = h.operation;
        m.idle = h.idle;
        m.progress = h.progress;
    }
    void left(int rank) { of(rank).left = true; }
    /// Where a member was when it went. What it has reported is up to a heartbeat old: members of a job are in the same
    /// step, so that it was at least where this process is.
    SINTER_COLD std::pair<std::int64_t, std::string> reached(const member_status& m) const {
        const std::int64_t own = own_.step;
        if (m.step >= own) return {m.step, m.operation};
        return {own, own_.operation.load()};
    }
    SINTER_COLD member_status status(int rank) const {
        const double now = base::monotonic_seconds();
        member_status m = members_[static_cast<std::size_t>(rank)];
        if (rank == self_) {
            m.step = own_.step;
            m.operation = own_.operation;
            m.idle = now - moved_at_;
            return m;
        }
        m.silent = now - m.last_received;
        m.idle += now - m.last_heartbeat;
        return m;
    }
    /// Any thread: for how many seconds the loop's thread has not run; 0 before it begins.
    double overdue() const {
        const double ran = ran_at_.load(std::memory_order_relaxed);
        return ran == 0 ? 0 : base::monotonic_seconds() - ran;
    }

private:
    const progress_marks& own_;
    alarm timer_;
    calls on_;
    std::vector<member_status> members_;
    double dead_after_, every_, stuck_after_, moved_at_ = 0, sent_at_ = 0;
    std::atomic<double> ran_at_{0};
    std::uint64_t count_ = 0;
    int self_;

    member_status& of(int rank) { return members_[static_cast<std::size_t>(rank)]; }
    SINTER_COLD void next() {
        timer_.in(every_ / 4, [this] { tick(); });
    }
    SINTER_COLD void tick() {
        const double now = base::monotonic_seconds(), gap = now - ran_at_.load();
        ran_at_.store(now);
        if (gap > dead_after_) return on_.failed(self_, own_.step, own_.operation.load(), was_stopped(gap));
        if (const std::uint64_t n = own_.count; n != count_) {
            count_ = n;
            moved_at_ = now;
        }
        if (now - sent_at_ >= 0.9 * every_) {
            sent_at_ = now;
            const message::heartbeat h{own_.step, count_, now - moved_at_, own_.operation.load()};
            for (int r = 0; r < static_cast<int>(members_.size()); ++r)
                if (r != self_ && !of(r).left) on_.send(r, h);
        }
        // Who was late itself reads first what the others sent.
        if (gap < every_) {
            for (int r = 0; r < static_cast<int>(members_.size()); ++r) {
                const member_status& m = of(r);
                if (r == self_ || m.left || now - m.last_received <= dead_after_) continue;
                const auto [step, operation] = reached(m);
                return on_.failed(r, step, operation,
                                  "no sign of life for " + seconds(now - m.last_received) +
                                      ": it was stopped or cannot be reached");
            }
            if (count_ > 0 && now - moved_at_ > stuck_after_) return blame_the_stuck(now);
        }
        next();
    }
    /// Who waits for a stuck member does not get on either: the one that is least far is at fault,
    /// and among equals the one that stood still first.
    SINTER_COLD void blame_the_stuck(double now) {
        int worst = self_;
        member_status at = status(self_);
        for (int r = 0; r < static_cast<int>(members_.size()); ++r) {
            const member_status m = status(r);
            if (r == self_ || m.left || m.progress == 0) continue;
            if (m.step < at.step || (m.step == at.step && m.idle > at.idle + every_)) worst = r, at = m;
        }
        on_.failed(worst, at.step, at.operation,
                   "it lives, and has not got on for " + seconds(worst == self_ ? now - moved_at_ : at.idle) +
                       ", longer than cluster_options::progress_within allows (" + seconds(stuck_after_) + ")");
    }

public:
    SINTER_COLD static std::string seconds(double s) {
        const auto tenths = static_cast<std::int64_t>(s * 10 + 0.5);
        return to_text({tenths / 10, ".", tenths % 10, " s"});
    }
    SINTER_COLD static std::string was_stopped(double gap) {
        return "this process was removed: it did not run for " + seconds(gap) + ", and the others take it for dead";
    }
};

} // namespace sinter::wire
