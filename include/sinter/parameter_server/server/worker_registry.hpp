// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/counters.hpp>
#include <sinter/parameter_server/staged_push.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

class blocking_link;

/// What a server knows of a worker's task.
enum class worker_presence : std::uint8_t { expected, here, resting, left, dead, never_came };

/// A worker as a server sees it. Its presence changes through worker_registry alone.
class registered_worker {
public:
    worker_presence now() const { return now_; }
    bool is(worker_presence p) const { return now_ == p; }
    /// It is in the job, at its work or between its steps.
    bool is_in_job() const { return now_ == worker_presence::here || now_ == worker_presence::resting; }

    std::uint64_t incarnation = 0;               ///< a number that each process of the task has of its own; 0: none yet
    std::uint64_t applied_number = 0;            ///< of its last push that is in the values, or of no use
    /// Seconds; 1e300: its thread computes for it, and does not listen.
    std::atomic<double> last_received{0};
    int descriptor = -1;                         ///< of its connection
    blocking_link* conn = nullptr;                ///< likewise
    bool served = false;                         ///< by a thread
    int arriving = 0;                            ///< connections that wait for the end of the one before
    enum { unknown, anew, amid } comes = unknown;   ///< whether its process had made sums when it joined
    std::unique_ptr<staged_push> incoming;
    std::vector<std::unique_ptr<staged_push>> staged;   ///< by clock
    worker_counters counters;
    std::int64_t applied_before = 0;             ///< when steps_per_second was measured last
    answer_info info;                            ///< of its last push

private:
    friend class worker_registry;
    worker_presence now_ = worker_presence::expected;
};

/// Which workers there are, and who of them is there. No sockets or threads here.
///
/// Always: any_left() once a worker has left, whatever comes after. A worker that has left or died may come again.
class worker_registry {
public:
    /// `all_join`: workers share batches, so that one which has not come yet is waited for.
    worker_registry(int workers, bool all_join)
        : all_join_(all_join), workers_(static_cast<std::size_t>(workers)) {}

    int size() const { return static_cast<int>(workers_.size()); }
    registered_worker& at(int w) { return workers_[static_cast<std::size_t>(w)]; }
    const registered_worker& at(int w) const { return workers_[static_cast<std::size_t>(w)]; }
    auto begin() { return workers_.begin(); }
    auto end() { return workers_.end(); }
    auto begin() const { return workers_.begin(); }
    auto end() const { return workers_.end(); }

    // ---- Who comes and goes
    /// The worker is here. What it was before.
    worker_presence comes(int w) { return std::exchange(at(w).now_, worker_presence::here); }
    /// A connection of the worker's is served again: one that rests or has left does so until it says otherwise.
    void is_served(int w) {
        if (!at(w).is(worker_presence::resting) && !at(w).is(worker_presence::left)) comes(w);
    }
    void rests(int w) { at(w).now_ = worker_presence::resting; }
    void leaves(int w) {
        at(w).now_ = worker_presence::left;
        any_left_ = true;
    }
    void dies(int w, double now) {
        at(w).now_ = worker_presence::dead;
        died_ = now;
    }
    /// It has not come in time: nobody waits for it.
    void never_came(int w) { at(w).now_ = worker_presence::never_came; }
    /// As the other copy of the shard knows it.
    void set(int w, worker_presence p) { at(w).now_ = p; }

    bool any_left() const { return any_left_; }
    void set_any_left(bool any) { any_left_ = any; }
    /// When a worker died last, in seconds.
    double died() const { return died_; }

    // ---- Who is there
    int count(worker_presence p) const {
        return static_cast<int>(std::ranges::count_if(workers_, [&](const auto& k) { return k.is(p); }));
    }
    int in_job() const {
        return static_cast<int>(std::ranges::count_if(workers_, [](const auto& k) { return k.is_in_job(); }));
    }
    /// Others do their work together with this one: it is in the job, or may yet come to one that all share.
    bool lives(const registered_worker& k) const {
        return k.is_in_job() || (k.is(worker_presence::expected) && all_join_);
    }
    /// Whether another worker is in the job, too.
    bool has_others(int w) const { return in_job() > at(w).is_in_job(); }
    /// Whether no worker has been here yet.
    bool nobody_came() const {
        return count(worker_presence::expected) + count(worker_presence::never_came) == size();
    }
    /// Those that are gone, or seem to be by `hung_up`, a look at a worker's connection.
    template <class F>
    int away(F hung_up) const {
        return static_cast<int>(std::ranges::count_if(workers_, [&](const auto& k) {
            return k.is(worker_presence::dead) ||
                   (lives(k) && !k.is(worker_presence::expected) && (!k.served || hung_up(k)));
        }));
    }
    bool any_served() const {
        return std::ranges::any_of(workers_, [](const auto& k) { return k.served; });
    }
    /// Whether somebody has work here, or comes.
    bool any_at_work() const {
        return std::ranges::any_of(workers_, [](const auto& k) { return k.is_in_job() || k.arriving > 0; });
    }
    std::vector<worker_counters> counters() const {
        std::vector<worker_counters> all;
        for (const registered_worker& k : workers_) all.push_back(k.counters);
        return all;
    }
    /// Measures steps_per_second anew, over so many seconds.
    void measure(double seconds) {
        for (registered_worker& k : workers_)
            k.counters.steps_per_second =
                static_cast<double>(k.counters.applied - std::exchange(k.applied_before, k.counters.applied)) / seconds;
    }

private:
    bool all_join_;
    std::vector<registered_worker> workers_;
    bool any_left_ = false;
    double died_ = 0;
};

} // namespace sinter::parameter_servers
