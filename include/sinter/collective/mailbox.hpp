// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <sinter/base/to_text.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/collective/engine.hpp>
#include <sinter/collective/messages.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Where one member's messages are matched: what has come, what is awaited, and what is being sent. Messages of
/// different names do not wait for each other: what nobody awaits yet is kept.
class mailbox {
public:
    /// A message that comes, in one or more parts.
    struct arrival {
        message_name name;
        std::int64_t bytes = 0;   // in all
        std::int64_t here = 0;    // that have been placed
        message awaited = 0;      // by this one; 0: not yet
        bool direct = false;      // to where it is awaited; else to `kept`
        bool whole = false;
        std::vector<std::byte> kept{};
    };

    explicit mailbox(std::shared_ptr<membership> m) : members_(std::move(m)) {}

    // ---- Of who sends and receives. They throw the first error of the job.
    /// Until sent().
    message begin_send(const message_name& n, std::int64_t bytes) {
        lock hold(mutex_);
        return add({n, {}, bytes, true}, hold);
    }
    message begin_receive(const message_name& n, span<std::byte> into) {
        const auto bytes = static_cast<std::int64_t>(into.size());
        lock hold(mutex_);
        const message m = add({n, into, bytes, false}, hold);
        const auto a = std::find_if(arrived_.begin(), arrived_.end(),
                                    [&](const arrival& x) { return x.name == n && x.awaited == 0; });
        if (a == arrived_.end()) return m;
        if (a->bytes != bytes) {
            const cluster_error wrong = another_size(n, a->bytes, bytes);
            hold.unlock();
            raise(wrong);
        }
        a->awaited = m;
        open_.at(m).matched = true;
        unawaited_[n.peer] -= static_cast<std::int64_t>(a->kept.size());
        if (a->whole) hand_over(a);
        return m;
    }
    /// Whether wait() would return at once. For who has no thread that brings messages.
    bool is_done(message m) const {
        const lock hold(mutex_);
        const auto at = open_.find(m);
        return at == open_.end() || at->second.done || over_;
    }
    /// `asked`: the time of the caller, where it is not `within`, for the error.
    void wait(message m, double within, double asked = -1) {
        lock hold(mutex_);
        const auto at = open_.find(m);
        if (at == open_.end())
            throw device_error("this message was not started, or has been waited for", "wait_message");
        const auto ready = [&] { return at->second.done || over_; };
        const auto until = std::chrono::steady_clock::now() +
                           std::chrono::microseconds(static_cast<std::int64_t>(std::clamp(within, 0., 1e9) * 1e6));
        const bool in_time = changed_.wait_until(hold, until, ready);
        if (at->second.done) {
            open_.erase(at);
            return;
        }
        const entry e = at->second;
        std::string cause = in_time ? std::string() : late(e, asked < 0 ? within : asked);
        hold.unlock();
        if (!in_time) raise(about(e.name, e.sends, std::move(cause)));
        end();   // nobody touches the callers' memory from here on
        members_->check();
        throw device_error("the job has ended", text_of(e.name, e.sends));
    }

    // ---- Of who brings messages, and carries them away
    /// A message begins to come. Throws cluster_error where it has another size than is awaited.
    arrival& begin_arrival(const message_name& n, std::int64_t bytes) {
        const lock hold(mutex_);
        arrival a{n, bytes};
        if (auto* const e = awaiting(n)) {
            if (e->second.bytes != bytes) throw another_size(n, bytes, e->second.bytes);
            e->second.matched = a.direct = true;
            a.awaited = e->first;
        }
        arrived_.push_back(std::move(a));
        return arrived_.back();
    }
    /// Whether the next `n` bytes may come: they are awaited, or no more than `most` of their sender are not.
    bool has_room(const message_name& name, const arrival* begun, std::int64_t n, std::int64_t most) {
        const lock hold(mutex_);
        if (begun ? begun->awaited != 0 : awaiting(name) != nullptr) return true;
        const std::int64_t kept = unawaited_[name.peer];
        return kept == 0 || kept + n <= most;
    }
    /// Where its next `n` bytes go; then placed().
    span<std::byte> place(arrival& a, std::int64_t n) {
        const lock hold(mutex_);
        const auto from = static_cast<std::size_t>(a.here), length = static_cast<std::size_t>(n);
        if (a.direct) return open_.at(a.awaited).into.subspan(from, length);
        if (a.awaited == 0) unawaited_[a.name.peer] += n;
        a.kept.resize(from + length);
        return span<std::byte>(a.kept).subspan(from, length);
    }
    /// True: it is whole, and `a` must not be used any more.
    bool placed(arrival& a, std::int64_t n) {
        const lock hold(mutex_);
        a.here += n;
        a.whole = a.here == a.bytes;
        if (!a.whole || a.awaited == 0) return a.whole;
        hand_over(std::find_if(arrived_.begin(), arrived_.end(), [&](const arrival& x) { return &x == &a; }));
        return true;
    }
    /// A whole message, of a member in this process.
    void deliver(const message_name& n, span<const std::byte> x) {
        arrival* a = nullptr;
        try {
            a = &begin_arrival(n, static_cast<std::int64_t>(x.size()));
        } catch (const cluster_error& e) {
            raise(e);
        }
        const bool given = work([&] {   // who awaits it may give up meanwhile
            const span<std::byte> to = place(*a, a->bytes);
            if (!x.empty()) std::memcpy(to.data(), x.data(), x.size());
            placed(*a, a->bytes);
        });
        if (!given) members_->check();
    }
    void sent(message m) {
        const lock hold(mutex_);
        finish(m);
    }
    /// Throws cluster_error where a message is open whose peer `gone(peer)` says will do nothing more.
    template <class F>
    void refuse_gone(F gone) const {
        const lock hold(mutex_);
        for (const auto& [m, e] : open_)
            if (!e.done && gone(e.name.peer))
                throw about(e.name, e.sends, "it has left the job, and this member still waits for it");
    }
    bool has_open(int peer) const {
        const lock hold(mutex_);
        return std::any_of(open_.begin(), open_.end(),
                           [&](const auto& x) { return !x.second.done && x.second.name.peer == peer; });
    }
    /// Calls f, which may touch the memory of messages; false: all is over.
    template <class F>
    bool work(F f) {
        {
            const lock hold(mutex_);
            if (over_) return false;
            ++at_work_;
        }
        const rest after{*this};
        f();
        return true;
    }
    /// All waits end. Returns when nobody is at work(); not to be called there.
    void end() noexcept {
        lock hold(mutex_);
        over_ = true;
        changed_.notify_all();
        changed_.wait(hold, [&] { return at_work_ == 0; });
    }
    /// Fails the job, and throws its first error.
    [[noreturn]] void raise(const cluster_error& e) {
        members_->fail(e);
        end();
        members_->check();
        throw e;
    }
    static std::string text_of(const message_name& n, bool sends) {
        return to_text({sends ? "message to rank " : "message from rank ", n.peer, " with tag ", n.tag});
    }
    /// That this peer is at fault.
    cluster_error about(const message_name& n, bool sends, std::string cause) const {
        return {n.peer, members_->role(n.peer), members_->address(n.peer), text_of(n, sends), -1, std::move(cause)};
    }

private:
    using lock = std::unique_lock<std::mutex>;
    struct entry {
        message_name name;
        span<std::byte> into;
        std::int64_t bytes;
        bool sends, done = false, matched = false;
    };
    struct rest {
        mailbox& of;
        ~rest() {
            const lock hold(of.mutex_);
            if (--of.at_work_ == 0 && of.over_) of.changed_.notify_all();
        }
    };
    std::shared_ptr<membership> members_;   // of the whole job
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<message, entry> open_;   // in the order in which they were started
    std::list<arrival> arrived_;      // what comes, and what has come and is not awaited
    std::map<int, std::int64_t> unawaited_;   // bytes of `arrived_`, by sender
    message last_ = 0;
    int at_work_ = 0;
    bool over_ = false;

    message add(const entry& e, lock& hold) {
        if (!over_) return open_.emplace(++last_, e), last_;
        hold.unlock();
        members_->check();
        throw device_error("the job has ended", text_of(e.name, e.sends));
    }
    /// What awaits the next message of this name.
    std::map<message, entry>::value_type* awaiting(const message_name& n) {
        const auto at = std::find_if(open_.begin(), open_.end(), [&](const auto& x) {
            return !x.second.sends && !x.second.matched && x.second.name == n;
        });
        return at == open_.end() ? nullptr : &*at;
    }
    void finish(message m) {
        const auto at = open_.find(m);
        if (at == open_.end()) return;
        at->second.done = true;
        changed_.notify_all();
    }
    void hand_over(std::list<arrival>::iterator a) {
        const entry& e = open_.at(a->awaited);
        if (!a->direct && a->bytes > 0) std::memcpy(e.into.data(), a->kept.data(), static_cast<std::size_t>(a->bytes));
        finish(a->awaited);
        arrived_.erase(a);
    }
    SINTER_COLD cluster_error another_size(const message_name& n, std::int64_t sent, std::int64_t awaited) const {
        return about(n, false, to_text({"it sent ", sent, " bytes; this member awaits ", awaited}));
    }
    /// Why it is late, as far as is known: a wrong tag is seen by what has come.
    SINTER_COLD std::string late(const entry& e, double within) const {
        std::string s = to_text({e.sends ? "it did not take the message within " : "the message did not come within ",
                                base::number_text(within), " s"});
        int others = 0;
        for (const arrival& a : arrived_)
            if (!e.sends && a.name.peer == e.name.peer && a.awaited == 0 && ++others <= 4)
                s += to_text({others == 1 ? "; not awaited here have come: " : ", ", "tag ", a.name.tag, " (", a.bytes,
                             " bytes)"});
        return others > 4 ? to_text({s, " and ", others - 4, " more"}) : s;
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
