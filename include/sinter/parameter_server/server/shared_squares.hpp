// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/monotonic_seconds.hpp>
#include <sinter/net/data_link.hpp>
#include <sinter/net/service_client.hpp>
#include <sinter/parameter_server/protocol.hpp>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <poll.h>
#include <vector>

namespace sinter::inline SINTER_TARGET::sharded {

/// The squares of all tensors' gradients of a clock, where each server has those of some tensors: for
/// clipping by the norm of all of them. Server 0 adds them up in the order of the servers, and the others
/// dial it. A tensor that is whole on one server keeps its bits; a table's squares, of which each server has
/// some rows, are added.
///
/// With backup workers server 0 also says which pushes make a clock, so that all servers add up those of the same
/// workers: the others wait for these, and say where one will never come (its worker died in between); then all of
/// them leave it out.
class shared_squares {
public:
    using stop_function = std::function<bool()>;
    using ranks = std::uint64_t;   ///< a bit for each worker
    static constexpr int most_workers = 64;

    /// `stop`: whether to give up. `within`: seconds until a server that does not answer is an error.
    shared_squares(const cluster& who, const wire::identity& same, int tensors, stop_function stop, double within = 60)
        : who_(who), dialler_(who, same), tensors_(static_cast<std::size_t>(tensors)), stop_(std::move(stop)),
          within_(within), given_(who.servers().size()), total_(tensors_) {
        if (tensors_ > static_cast<std::size_t>(floats_of_frame))
            throw option_error("too many parameters to clip by the norm of all on several servers",
                               "the optimizer of a parameter server", std::to_string(tensors),
                               std::to_string(floats_of_frame) + " at most");
    }

    /// Number i at squares[16 * i]; all servers' afterwards. Every server calls it for the same clocks in
    /// their order. `of`: whose pushes they are of. Another answer than that: some of these are nowhere on a server,
    /// and all make the clock by the pushes of those that are answered. Throws cluster_error: another one is not
    /// there, or is at another clock, or stop().
    ranks exchange(std::int64_t clock, std::vector<float>& squares, ranks of = 0) {
        std::vector<float> mine(tensors_);
        for (std::size_t i = 0; i < tensors_; ++i) mine[i] = squares[16 * i];
        const ranks now = who_.self().index == 0 ? collect(clock, mine, of) : *ask(says::squares, clock, of, mine);
        for (std::size_t i = 0; now == of && i < tensors_; ++i) squares[16 * i] = mine[i];
        return now;
    }
    /// On server 0: these workers' pushes make the clock.
    void decide(std::int64_t clock, ranks of) {
        const std::lock_guard hold(mutex_);
        decided_ = clock, of_ = of;
        changed_.notify_all();
    }
    /// Elsewhere: whose pushes make it, once that is decided. Nothing: stop().
    std::optional<ranks> decision(std::int64_t clock) {
        std::vector<float> none(tensors_);
        return ask(says::which, clock, 0, none);
    }
    /// Elsewhere: the pushes of these will never come to this server. Whose make the clock then.
    std::optional<ranks> decision_without(std::int64_t clock, ranks missing) {
        std::vector<float> none(tensors_);
        return ask(says::missing, clock, missing, none);
    }
    /// On server 0: answers server `index`, until its connection ends or stop().
    void serve(int index, wire::data_link link) {
        std::vector<float> theirs(tensors_);
        const double never = 1e300;
        for (;;) {
            wire::frame_tag t{};
            if (!receive(link, t, theirs, never)) return;
            const auto said = static_cast<says>(t.bucket);
            const ranks of = t.offset;
            ranks now = of;
            {
                std::unique_lock hold(mutex_);
                if (said != says::which && t.step > done_)
                    given_[static_cast<std::size_t>(index)] = {
                        t.step, said == says::squares ? of : of_, said == says::missing ? of : 0, theirs};
                changed_.notify_all();
                while (waits(said, t.step, of)) {
                    if (stop_()) return;
                    changed_.wait_for(hold, std::chrono::milliseconds(100));
                }
                if (said == says::squares) {
                    if (done_ == t.step) theirs = total_;
                    else if (decided_ == t.step) now = of_;
                    else return;   // it asks for a clock of long ago: its next question is an error there
                } else {
                    now = decided_ == t.step ? of_ : 0;
                }
            }
            if (!send(link, tag(said, t.step, now), theirs, never)) return;
        }
    }

private:
    enum class says : std::int32_t { squares, which, missing };
    struct part {
        std::int64_t clock = -1;
        ranks of = 0, missing = 0;
        std::vector<float> squares;
    };
    const cluster& who_;
    wire::service_client dialler_;
    std::size_t tensors_;
    stop_function stop_;
    double within_;
    std::optional<wire::data_link> link_;   ///< to server 0
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<part> given_;               ///< by server: what it gave last
    std::vector<float> total_;
    std::int64_t done_ = -1;                ///< the clock of total_
    std::int64_t decided_ = -1;             ///< with backup workers: the clock that of_ make
    ranks of_ = 0;

    wire::frame_tag tag(says what, std::int64_t clock, ranks of) const {
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(word::squares);
        t.bucket = static_cast<std::int32_t>(what);
        t.step = clock;
        t.offset = of;
        t.elements = tensors_;
        return t;
    }
    /// Under the mutex: whether there is no answer yet.
    bool waits(says what, std::int64_t clock, ranks of) const {
        if (what == says::which) return decided_ < clock;
        const bool same = decided_ == clock;
        if (what == says::missing) return same && (of_ & of) != 0;
        return done_ < clock && !(same && of_ != of);
    }
    cluster_error about(int server, std::int64_t clock, const char* cause) const {
        return dialler_.about(server, "adding up the norm of all gradients", clock, cause);
    }
    ranks collect(std::int64_t clock, std::vector<float>& mine, ranks of) {
        const double until = base::monotonic_seconds() + within_;
        std::unique_lock hold(mutex_);
        given_[0] = {clock, of, 0, mine};
        ranks missing = 0;
        for (std::size_t k = 1; k < given_.size(); ++k) {
            const part& p = given_[k];
            while (p.clock != clock || (p.of != of && p.missing == 0)) {
                const int server = static_cast<int>(k);
                if (p.clock > clock) throw about(server, clock, "it is at a later clock");
                if (stop_()) throw about(server, clock, "this server ends");
                if (base::monotonic_seconds() > until) throw about(server, clock, "it has not said its part");
                changed_.wait_for(hold, std::chrono::milliseconds(100));
            }
            missing |= p.missing;
        }
        changed_.notify_all();
        if (missing != 0) {
            for (part& p : given_) p.clock = -1;
            return of_ = of & ~missing;
        }
        std::fill(total_.begin(), total_.end(), 0.f);
        for (const part& p : given_)
            for (std::size_t i = 0; i < tensors_; ++i) total_[i] += p.squares[i];
        done_ = clock;
        mine = total_;
        return of;
    }
    /// Again over another connection where one breaks. Nothing: stop(), where a decision is waited for.
    std::optional<ranks> ask(says what, std::int64_t clock, ranks of, std::vector<float>& mine) {
        double until = base::monotonic_seconds() + within_;
        std::vector<float> all(tensors_);
        for (;;) {
            if (stop_()) {
                if (what != says::squares) return {};
                throw about(0, clock, "this server ends");
            }
            if (base::monotonic_seconds() > until) throw about(0, clock, "it does not answer");
            try {
                if (!link_) link_ = dialler_.dial(0, 1);
                if (!link_) {
                    ::poll(nullptr, 0, 50);
                    continue;
                }
                wire::frame_tag t{};
                // A decision takes as long as the slowest worker that is waited for.
                if (send(*link_, tag(what, clock, of), mine, until) &&
                    receive(*link_, t, all, what == says::squares ? until : 1e300) && t.step == clock) {
                    mine = all;
                    return t.offset;
                }
                if (what != says::squares) until = base::monotonic_seconds() + within_;
            } catch (const cluster_error&) {
                if (base::monotonic_seconds() > until) throw;
            }
            link_.reset();
            ::poll(nullptr, 0, 20);
        }
    }
    /// False: stop(), or not by then.
    template <class Done>
    bool wait(wire::data_link& link, short events, double until, Done done) {
        while (!done()) {
            if (stop_() || base::monotonic_seconds() > until) return false;
            if (events == POLLIN && link.has_more()) continue;
            pollfd p{link.descriptor(), static_cast<short>(events | link.wants()), 0};
            ::poll(&p, 1, 100);
        }
        return true;
    }
    bool send(wire::data_link& link, const wire::frame_tag& t, const std::vector<float>& x, double until) {
        link.send(t, as_bytes(x));
        return wait(link, POLLOUT, until, [&] { return link.flush(); });
    }
    bool receive(wire::data_link& link, wire::frame_tag& t, std::vector<float>& x, double until) {
        const wire::frame_header* h = nullptr;
        if (!wait(link, POLLIN, until, [&] { return (h = link.next()) != nullptr; })) return false;
        t = h->tag;
        if (t.bucket < 0 || t.bucket > 2 || !(t == tag(static_cast<says>(t.bucket), t.step, t.offset)) ||
            h->bytes != 4 * tensors_)
            return false;
        link.receive(t, as_writable_bytes(x));
        return wait(link, POLLIN, until, [&] { return link.fill(); });
    }
};

} // namespace sinter::sharded
