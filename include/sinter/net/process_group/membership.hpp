// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/processors.hpp>
#include <sinter/net/process_group.hpp>
#include <exception>

/// Beginning, failing, ending.
namespace sinter::inline SINTER_ORDINARY::wire {

SINTER_COLD inline process_group::process_group(const cluster& who, const identity& same, setup with)
    : who_(who), with_(std::move(with)), left_(static_cast<std::size_t>(who.size())),
      inbox_(static_cast<std::size_t>(who.size())), ready_(static_cast<std::size_t>(who.size())),
      gone_(static_cast<std::size_t>(who.size())) {
    who_.options.check();
    check_key_length(who_.options.key, "cluster_options::key");
    if (rank() < 0)
        throw option_error("this task does not train", "process_group", who_.self().name(), "chief or worker");
    if (size() == 1) return;
    own_.role = static_cast<std::uint8_t>(who_.self().role);
    own_.index = who_.self().index;
    own_.rank = rank();
    own_.size = size();
    own_.same = same;
    own_.job = who_.options.job;
    own_.keyed = !who_.options.key.empty();
    fill_random({reinterpret_cast<std::byte*>(&own_.incarnation), sizeof own_.incarnation});
    try {
        join();
    } catch (...) {
        loop_.stop();
        throw;
    }
}

SINTER_COLD inline void process_group::join() {
    std::vector<resolution> addresses;
    auto at = open(addresses);
    const double deadline = base::monotonic_seconds() + who_.options.join_within;
    std::vector<std::vector<endpoint>> by_rank;
    for (const resolution& a : addresses) by_rank.push_back(a.endpoints);
    links_ = std::make_unique<links>(
        loop_, who_, own_, std::move(addresses), std::move(at), with_.log,
        links::calls{
            .received = [this](int r, message::kind k, span<const std::byte> bytes) { received(r, k, bytes); },
            .lost = [this](int r, const std::string& cause) { lost(r, cause); },
            .joined = [this](int r, purpose use) {
                if (use == purpose::control) ready_[static_cast<std::size_t>(r)] = 0;
                check_all_joined();
            },
            .failed = [this](const cluster_error& e) { if (!started_) adopt(e, true); },
            .closed = [this] {
                return error_.there() ? "the job has failed: " + std::string(error_.get().what()) : std::string();
            },
            .further = [this](int r, std::uint32_t number, data_link d) {
                {
                    const lock hold(mutex_);
                    further_[{r, number}] = std::make_unique<data_link>(std::move(d));
                    changed_.notify_all();
                }
                notify_change();
            },
            .no_further = [this](int r, std::uint32_t number, const std::string& cause) {
                bool left = false;
                {
                    const lock hold(mutex_);
                    further_.erase({r, number});
                    left = left_[static_cast<std::size_t>(r)] != 0;
                }
                if (left) return notify_change();
                adopt(about(r, "a further connection", marks_.step, "it cannot be made: " + cause), true);
            }});
    links_->limits = with_.strangers;
    liveness_ = std::make_unique<liveness>(
        loop_, who_.options, rank(), size(), marks_,
        liveness::calls{
            .send = [this](int r, const message::heartbeat& h) {
                // What is stuck in a queue need not be sent twice.
                if (links_->control(r)->idle()) links_->control(r)->send(message::kind::heartbeat, archived(h));
            },
            .failed = [this](int r, std::int64_t step, const std::string& operation, std::string cause) {
                adopt(about(r, operation, step, std::move(cause)), true);
            }});
    for (int r = 0; r < size(); ++r) suspicion_.push_back(std::make_unique<alarm>(loop_));
    loop_.start([this](const char* what) {
        adopt(about(rank(), "", marks_.step, std::string("its connections' thread failed: ") + what), true);
    });
    loop_.post([this, by_rank = std::move(by_rank)] {
        links_->begin();
        if (!who_.options.announced) return;
        report_missing(std::make_shared<wait_note>(who_.self().name(), who_.options.join_within));
        if (who_.options.regroups || !who_.addresses_known()) return;
        others_ = std::make_unique<other_strategy>(loop_, who_, by_rank, [this](int r) {
            adopt(about(r, "joining the job", -1,
                        "members' strategies differ: it trains with elastic(...), and this process without it"),
                  true);
        });
    });
    {
        lock hold(mutex_);
        if (wait_until(deadline, hold, [&] { return up_ || error_.there(); }) && !error_.there()) return;
    }
    run_on_loop([&] {
        if (error_.there() || started_) return;
        const auto absent = links_->missing();
        std::string names;
        for (const auto& [r, words] : absent) names += (names.empty() ? "" : ", ") + words;
        const int first = absent.empty() ? 0 : absent[0].first;
        const std::string waited = " after " + liveness::seconds(who_.options.join_within);
        adopt(cluster_error(first, who_.member(first).name(), links_->where(first), "joining the job", -1,
                            absent.empty() ? "all are here, and some are not linked to each other" + waited
                                           : "missing" + waited + ": " + names), true);
    });
    if (!error_.there()) return;   // the last one came just now
    // Those that dial this process in the next second are notified, too.
    const double until = base::monotonic_seconds() + 1;
    for (bool all_know = false; !all_know && base::monotonic_seconds() < until;) {
        run_on_loop([&] { all_know = links_->all_notified(); });
        if (!all_know) ::usleep(20000);
    }
    close(0.5);
    error_.check();
}

SINTER_COLD inline void process_group::check_all_joined() {
    if (started_ || error_.there()) return;
    if (rank() == 0 && !roster_sent_ && !who_.addresses_known() && links_->all_connected()) {
        roster_sent_ = true;
        message::roster m;
        for (int r = 0; r < size(); ++r) m.addresses.push_back(links_->where(r));
        send_all(message::kind::roster, archived(m));
    }
    if (!links_->complete()) return;
    links_->establish();
    if (rank() != 0) {
        if (!ready_sent_) links_->control(0)->send(message::kind::ready, {});
        ready_sent_ = true;
        return;
    }
    ready_[0] = 1;
    if (std::find(ready_.begin(), ready_.end(), 0) != ready_.end()) return;
    send_all(message::kind::start, {});
    start();
}

/// On the loop, again and again until all have met.
SINTER_COLD inline void process_group::report_missing(std::shared_ptr<wait_note> note) {
    if (started_ || error_.there() || closing_) return;
    if (note->due()) {
        std::vector<std::string> whom;
        std::string why;
        for (const int r : links_->absent()) {
            whom.push_back(shown(r));
            if (const std::string words = links_->trouble(r); !words.empty() && whom.size() <= 8)
                why += (why.empty() ? "" : "; ") + who_.member(r).name() + ": " + words;
        }
        if (whom.empty() && rank() != 0) whom.push_back(shown(0) + " to say that all are linked to each other");
        for (int r = 1; whom.empty() && r < size(); ++r)
            if (!ready_[static_cast<std::size_t>(r)]) whom.push_back(shown(r) + " to say that it is linked to all");
        note->say(whom, why);
    }
    if (!waits_) waits_ = std::make_unique<alarm>(loop_);
    waits_->in(note->seconds_left() + 0.001, [this, note] { report_missing(note); });
}
SINTER_COLD inline std::string process_group::shown(int r) const {
    return who_.member(r).name() + " at " + (r == rank() ? own_.address : links_->where(r));
}

SINTER_COLD inline void process_group::start() {
    started_ = true;
    others_.reset();
    waits_.reset();
    if (who_.options.announced) {
        std::vector<std::string> all;
        for (int r = 0; r < size(); ++r) all.push_back(shown(r));
        report_all_joined(who_.self().name(), all);
    }
    std::vector<host_port> by_rank;
    for (int r = 0; r < size(); ++r) {
        by_rank.push_back(r == rank() && !who_.self().address().known() ? parse_address(own_.address, "this task")
                                                                        : links_->address(r));
        data_.push_back(r == rank() ? nullptr : std::make_unique<data_link>(links_->take_data(r)));
    }
    if (!who_.addresses_known()) who_ = who_.with_addresses(by_rank);
    liveness_->begin();
    const lock hold(mutex_);
    up_ = true;
    changed_.notify_all();
}

SINTER_COLD inline cluster_error process_group::about(int r, std::string operation, std::int64_t step,
                                                      std::string cause) const {
    const std::string at = r == rank() ? own_.address : links_->where(r);
    return {r, who_.member(r).name(), at, std::move(operation), step, std::move(cause)};
}
SINTER_COLD inline cluster_error process_group::removed(double gap) const {
    return {rank(), who_.self().name(), own_.address, marks_.operation.load(), marks_.step, liveness::was_stopped(gap)};
}

SINTER_COLD inline void process_group::adopt(const cluster_error& e, bool notify) {
    if (has_failed_.exchange(true)) return;
    // First the others are notified: whoever sees the error here may say next that it leaves.
    try {
        if (notify && size() > 1)
            loop_.post([this, m = archived(message::failure::of(e))] { send_all(message::kind::failure, m); });
    } catch (const std::bad_alloc&) {   // they see this process go: it learns of the error in any case
    }
    error_.set(e);
    const lock hold(mutex_);
    changed_.notify_all();
}

SINTER_COLD inline void process_group::fail(const cluster_error& e) noexcept try {
    if (error_.there()) return;
    if (size() == 1) return adopt(e, false);
    if (const double gap = liveness_->overdue(); gap > who_.options.dead_after) return adopt(removed(gap), true);
    bool left = false;
    if (e.rank() >= 0 && e.rank() < size() && e.rank() != rank() && dynamic_cast<const lost_connection*>(&e)) {
        lock hold(mutex_);   // the other end, or the one that ended it, may be about to send the reason
        const auto has_left = [&] { return left_[static_cast<std::size_t>(e.rank())] != 0; };
        wait_until(base::monotonic_seconds() + 0.5, hold, [&] { return error_.there() || has_left(); });
        left = has_left();
    }
    if (left)
        adopt(about(e.rank(), e.operation(), e.step(), "it has left the job, and this member still waits for it"),
              true);
    else adopt(e, true);
    while (!error_.there()) base::yield_core();   // another thread is about to set one that was before
} catch (...) {   // no memory: what has been set stays set, and the others see this process end
}
SINTER_COLD inline void process_group::fail(const std::string& cause) noexcept try {
    fail(cluster_error(rank(), who_.self().name(), own_.address, marks_.operation.load(), marks_.step, cause));
} catch (...) {
}

SINTER_COLD inline void process_group::lost(int r, const std::string& cause) {
    const auto at = static_cast<std::size_t>(r);
    {
        const lock hold(mutex_);
        gone_[at] = 1;
        changed_.notify_all();
        if (closing_ || left_[at]) return;
    }
    if (error_.there()) return;
    // Its failure message may come from another member, which got it first.
    suspicion_[at]->in(0.05, [this, r, cause] {
        const auto [step, operation] = liveness_->reached(liveness_->status(r));
        adopt(about(r, operation, step, cause), true);
    });
}

SINTER_COLD inline void process_group::leave() {
    if (closed_ || size() == 1) return error_.check();
    loop_.post([this, m = archived(message::leave{marks_.step})] {
        if (has_failed_) return;
        send_all(message::kind::leave, m);
        for (const auto& d : data_)
            if (d) d->shut_down();
        const lock hold(mutex_);
        for (const auto& [of, d] : further_)
            if (d) d->shut_down();
    });
    {
        lock hold(mutex_);
        wait_until(base::monotonic_seconds() + who_.options.join_within, hold, [&] {
            left_[static_cast<std::size_t>(rank())] = 1;
            return error_.there() || std::find(left_.begin(), left_.end(), 0) == left_.end();
        });
    }
    close(error_.there() ? 0.5 : 1);
    error_.check();
}

SINTER_COLD inline process_group::~process_group() {
    if (closed_ || size() == 1) return;
    if (std::uncaught_exceptions() > exceptions_) fail("an exception ended its work");
    try {
        leave();
    } catch (...) {   // who wants to know calls leave()
    }
}

/// Lets the last messages go and the others close their ends, so that nothing sent is lost.
SINTER_COLD inline void process_group::close(double within) {
    closed_ = true;
    loop_.post([this] {
        closing_ = true;
        liveness_->end();
        links_->stop_listening();
        hang_up();
    });
    {
        lock hold(mutex_);
        // On a busy machine the loop's thread may not run for a second: first it sends what there is.
        wait_until(base::monotonic_seconds() + 5, hold, [&] { return all_sent_; });
        wait_until(base::monotonic_seconds() + within, hold,
                   [&] { return std::find(gone_.begin(), gone_.end(), 0) == gone_.end(); });
    }
    loop_.stop();
    for (const auto& d : data_)
        if (d) d->close();
    further_.clear();
}
SINTER_COLD inline void process_group::hang_up() {
    bool all = true;
    // The others go on without it, and notify it elsewhere (elastic/assembly.hpp): nobody waits for its end.
    const int dead = who_.options.regroups && error_.there() ? error_.get().rank() : -1;
    for (int r = 0; r < size(); ++r) {
        control_link* const c = r == rank() ? nullptr : links_->control(r);
        if (c && c->idle()) c->shut_down();
        if (!c || r == dead) {
            const lock hold(mutex_);
            gone_[static_cast<std::size_t>(r)] = 1;
            changed_.notify_all();
            continue;
        }
        if (!c->idle()) all = false;
    }
    if (!all) return suspicion_[0]->in(0.005, [this] { hang_up(); });
    const lock hold(mutex_);
    all_sent_ = true;
    changed_.notify_all();
}

SINTER_COLD inline void process_group::run_on_loop(std::function<void()> f) {
    bool done = false;
    loop_.post([&] {
        f();
        const lock hold(mutex_);
        done = true;
        changed_.notify_all();
    });
    lock hold(mutex_);
    changed_.wait(hold, [&] { return done; });
}
template <class Done>
bool process_group::wait_until(double deadline, lock& hold, Done done) {
    const double left = deadline - base::monotonic_seconds();
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::microseconds(static_cast<std::int64_t>(left * 1e6));
    return changed_.wait_until(hold, until, done);
}

} // namespace sinter::wire
