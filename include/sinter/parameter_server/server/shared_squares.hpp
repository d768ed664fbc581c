// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/mutex.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/data_link.hpp>
#include <sinter/net/archive.hpp>
#include <sinter/net/service_client.hpp>
#include <sinter/parameter_server/copies.hpp>
#include <sinter/parameter_server/protocol.hpp>
#include <atomic>
#include <functional>
#include <optional>
#include <poll.h>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The squares of all tensors' gradients of a clock, where each shard has those of some tensors:
/// for clipping by the norm of all of them. Server 0 adds them up in the order of the shards, and
/// the others dial it. A tensor that is whole on one server keeps its bits; a table's squares, of
/// which each server has some rows, are added.
///
/// With backup workers server 0 also says which pushes make a clock, so that all servers add up
/// those of the same workers: the others wait for these, and say where one will never come (its
/// worker died in between); then all of them leave it out.
///
/// Where two servers keep each shard, whoever leads shard 0 does this. It sends nobody a sum that
/// its follower does not have (`keep`), and whoever asks has sent its own follower whose pushes the
/// squares are of. So a copy that takes over asks the same, or answers the same, as the one before
/// it.
class shared_squares {
public:
    using stop_function = std::function<bool()>;
    using ranks = std::uint64_t;   ///< a bit for each worker
    static constexpr int most_workers = 64;
    static constexpr ranks everybody = ~ranks{0};
    struct second_copies {
        int shard = 0;   ///< which this is
        /// Returns when the other copy knows the sum of this clock. False: this one is to give up.
        std::function<bool(std::int64_t clock, span<const float>)> keep;
    };

    /// `stop`: whether to give up. `within`: seconds until a server that does not answer is an
    /// error.
    shared_squares(const cluster& who, const wire::identity& same, int tensors, stop_function stop, double within = 60,
                   std::optional<second_copies> twice = {})
        : who_(who), dialler_(who, same), tensors_(static_cast<std::size_t>(tensors)), stop_(std::move(stop)),
          within_(within), twice_(std::move(twice)), first_((twice_ ? twice_->shard : who.self().index) == 0),
          given_(who.servers().size()), total_(tensors_) {
        if (tensors_ > static_cast<std::size_t>(floats_of_frame))
            throw option_error("too many parameters to clip by the norm of all on several servers",
                               "the optimizer of a parameter server", std::to_string(tensors),
                               std::to_string(floats_of_frame) + " at most");
    }

    /// Number i at squares[16 * i]; all servers' afterwards. Every server calls it for the same
    /// clocks in their order. `of`: whose pushes they are of. Another answer than that: some of
    /// these are nowhere on a server, and all make the clock by the pushes of those that are
    /// answered (which server 0 has to decide() first). Nothing: `leave` said so. Throws
    /// cluster_error: another one is not there, or is at another clock, or stop().
    std::optional<ranks> exchange(std::int64_t clock, std::vector<float>& squares, ranks of = 0,
                                  const stop_function& leave = {}) {
        std::vector<float> mine(tensors_);
        for (std::size_t i = 0; i < tensors_; ++i) mine[i] = squares[16 * i];
        const std::optional<ranks> now =
            first_ ? collect(clock, mine, of, leave) : ask(says::squares, clock, of, mine, leave);
        for (std::size_t i = 0; now == of && i < tensors_; ++i) squares[16 * i] = mine[i];
        return now;
    }
    /// On server 0: these workers' pushes make the clock.
    void decide(std::int64_t clock, ranks of) {
        const base::mutex_lock hold(mutex_);
        decided_ = clock, of_ = of;
        changed_.notify_all();
    }
    /// On server 0: the clock is applied there. Whose pushes make it can no longer change. (No lock
    /// is taken: the caller may hold one that `stop` takes.)
    void is_over(std::int64_t clock) { over_ = clock; }
    /// On the second copy of shard 0: the sum of this clock, which servers may have got.
    void know(std::int64_t clock, std::vector<float> total) {
        const base::mutex_lock hold(mutex_);
        done_ = clock, total_ = std::move(total);
        total_.resize(tensors_);
    }
    /// Elsewhere: whose pushes make it, once that is decided. Nothing: stop(), or `leave`.
    std::optional<ranks> decision(std::int64_t clock, const stop_function& leave = {}) {
        std::vector<float> none(tensors_);
        return ask(says::which, clock, 0, none, leave);
    }
    /// Elsewhere: the pushes of these will never come to this server. Whose make the clock then;
    /// nobody's, where it is over: a server that was started again passes such a clock.
    std::optional<ranks> decision_without(std::int64_t clock, ranks missing, const stop_function& leave = {}) {
        std::vector<float> none(tensors_);
        return ask(says::missing, clock, missing, none, leave);
    }
    /// On server 0: answers server `index`, until its connection ends, stop() or `leave`.
    void serve(int index, wire::data_link& link, const stop_function& leave = {}) {
        if (index < 1 || index >= static_cast<int>(who_.servers().size())) return;
        std::vector<float> theirs(tensors_);
        for (;;) {
            wire::frame_tag t{};
            if (!receive(link, t, theirs, never, never, leave)) return;
            const auto said = static_cast<says>(t.bucket);
            const ranks of = t.offset;
            ranks now = of;
            {
                base::mutex_lock hold(mutex_);
                if (said != says::which && t.step > done_)
                    given_[static_cast<std::size_t>(index)] = {
                        t.step, said == says::squares ? of : of_, said == says::missing ? of : 0, theirs};
                changed_.notify_all();
                for (double last_wait = base::monotonic_seconds(); waits(said, t.step, of);) {
                    if (stop_() || (leave && leave())) return;
                    changed_.wait_for(mutex_, 0.1);
                    const double time = base::monotonic_seconds();
                    if (time - last_wait < who_.options.heartbeat_every()) continue;
                    last_wait = time;
                    hold.unlock();
                    if (!send_wait(link)) return;
                    hold.lock();
                }
                if (said == says::squares) {
                    if (done_ == t.step) theirs = total_;
                    else if (decided_ == t.step) now = of_;
                    else return;   // it asks for a clock of long ago: its next request is an error there
                } else {
                    const bool too_late = said == says::missing && t.step <= over_ && (of_ & of) != 0;
                    now = decided_ == t.step && !too_late ? of_ : 0;
                }
            }
            if (!send(link, tag(said, t.step, now), theirs, never, leave)) return;
        }
    }

private:
    enum class says : std::int32_t { squares, which, missing };
    static constexpr double never = 1e300;
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
    std::optional<second_copies> twice_;
    bool first_;                            ///< this is server 0
    int aim_ = 0;                           ///< the copy of shard 0 that is dialled
    std::optional<wire::data_link> link_;   ///< to server 0
    base::mutex mutex_;
    base::condition changed_;
    std::vector<part> given_ SINTER_GUARDED_BY(mutex_);    ///< by server: what it gave last
    std::vector<float> total_ SINTER_GUARDED_BY(mutex_);
    std::int64_t done_ SINTER_GUARDED_BY(mutex_) = -1;     ///< the clock of total_
    std::int64_t decided_ SINTER_GUARDED_BY(mutex_) = -1;  ///< with backup workers: the clock that of_ make
    ranks of_ SINTER_GUARDED_BY(mutex_) = 0;
    std::atomic<std::int64_t> over_{-1};    ///< likewise: the last clock that is applied

    wire::frame_tag tag(says what, std::int64_t clock, ranks of) const {
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(frame_type::squares);
        t.bucket = static_cast<std::int32_t>(what);
        t.step = clock;
        t.offset = of;
        t.elements = tensors_;
        return t;
    }
    /// Whether there is no answer yet.
    bool waits(says what, std::int64_t clock, ranks of) const SINTER_REQUIRES(mutex_) {
        if (what == says::which) return decided_ < clock;
        const bool same = decided_ == clock;
        if (what == says::missing) return same && (of_ & of) != 0 && clock > over_;
        return done_ < clock && !(same && of_ != of);
    }
    cluster_error about(int server, std::int64_t clock, const char* cause) const {
        return dialler_.about(server, "adding up the norm of all gradients", clock, cause);
    }
    std::optional<ranks> collect(std::int64_t clock, std::vector<float>& mine, ranks of, const stop_function& leave) {
        const double until = base::monotonic_seconds() + within_;
        base::mutex_lock hold(mutex_);
        if (done_ == clock) {   // as the copy before this one has sent
            mine = total_;
            return of;
        }
        given_[0] = {clock, of, 0, mine};
        ranks missing = 0;
        for (std::size_t k = 1; k < given_.size(); ++k) {
            const part& p = given_[k];
            while (p.clock != clock || (p.of != of && p.missing == 0)) {
                const int server = static_cast<int>(k);
                if (p.clock > clock) throw about(server, clock, "it is at a later clock");
                if (leave && leave()) return {};
                if (stop_()) throw about(server, clock, "this server ends");
                if (base::monotonic_seconds() > until) throw about(server, clock, "it has not sent its part");
                changed_.wait_for(mutex_, 0.1);
            }
            missing |= p.missing;
        }
        if (missing != 0) {
            for (part& p : given_) p.clock = -1;
            return of & ~missing;
        }
        std::vector<float> total(tensors_);
        for (const part& p : given_)
            for (std::size_t i = 0; i < tensors_; ++i) total[i] += p.squares[i];
        hold.unlock();
        if (twice_ && !twice_->keep(clock, total)) return {};
        hold.lock();
        done_ = clock;
        mine = total_ = std::move(total);
        changed_.notify_all();
        return of;
    }
    /// Dials server 0, or one of the two that may lead its shard.
    bool dial() {
        const int servers = static_cast<int>(who_.servers().size());
        link_ = dialler_.dial(twice_ ? process_of_copy(0, aim_, servers) : 0, std::max(1.0, who_.options.dead_after));
        if (!link_ || !twice_) return link_.has_value();
        const std::string arguments = encode(calls::exchange_norms{static_cast<std::int32_t>(twice_->shard)});
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(frame_type::call);
        t.elements = static_cast<std::uint64_t>(call_id::exchange_norms);
        t.bucket = 0;   // the shard that is wanted
        link_->send(t, as_bytes(arguments));
        return wait(*link_, POLLOUT, base::monotonic_seconds() + 5, {}, [&] { return link_->flush(); });
    }
    /// Again over another connection where one breaks. Nothing: `leave`; or stop(), where a
    /// decision is waited for.
    std::optional<ranks> ask(says what, std::int64_t clock, ranks of, std::vector<float>& mine,
                             const stop_function& leave) {
        const double silent = std::max(1.0, who_.options.dead_after);
        double until = base::monotonic_seconds() + within_;
        std::vector<float> all(tensors_);
        for (;;) {
            if (leave && leave()) return {};
            if (stop_()) {
                if (what != says::squares) return {};
                throw about(0, clock, "this server ends");
            }
            if (base::monotonic_seconds() > until) throw about(0, clock, "it does not answer");
            try {
                if (link_ || dial()) {
                    wire::frame_tag t{};
                    // A decision takes as long as the slowest worker that is waited for.
                    if (send(*link_, tag(what, clock, of), mine, until, leave) &&
                        receive(*link_, t, all, what == says::squares ? until : never, silent, leave) &&
                        t.step == clock) {
                        mine = all;
                        return t.offset;
                    }
                    if (what != says::squares) until = base::monotonic_seconds() + within_;
                }
            } catch (const cluster_error&) {
                if (base::monotonic_seconds() > until) throw;
            }
            link_.reset();
            aim_ = twice_ ? 1 - aim_ : 0;
            ::poll(nullptr, 0, 20);
        }
    }
    /// False: stop(), `leave`, or not by then.
    template <class Done>
    bool wait(wire::data_link& link, short events, double until, const stop_function& leave, Done done) {
        while (!done()) {
            if (stop_() || (leave && leave()) || base::monotonic_seconds() > until) return false;
            if (events == POLLIN && link.has_more()) continue;
            pollfd p{link.descriptor(), static_cast<short>(events | link.wants()), 0};
            ::poll(&p, 1, 100);
        }
        return true;
    }
    bool send(wire::data_link& link, const wire::frame_tag& t, const std::vector<float>& x, double until,
              const stop_function& leave) {
        link.send(t, as_bytes(x));
        return wait(link, POLLOUT, until, leave, [&] { return link.flush(); });
    }
    /// A sign of life to whoever waits for an answer.
    bool send_wait(wire::data_link& link) {
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(frame_type::wait);
        link.send(t, {});
        return wait(link, POLLOUT, never, {}, [&] { return link.flush(); });
    }
    /// `silent`: seconds without a word, after which it is no use to wait.
    bool receive(wire::data_link& link, wire::frame_tag& t, std::vector<float>& x, double until, double silent,
                 const stop_function& leave) {
        for (;;) {
            const wire::frame_header* h = nullptr;
            const double silent_until = base::monotonic_seconds() + silent;
            if (!wait(link, POLLIN, std::min(until, silent_until), leave, [&] { return (h = link.next()) != nullptr; }))
                return false;
            t = h->tag;
            const bool waits = t.operation == static_cast<std::uint32_t>(frame_type::wait);
            if (!waits && (t.bucket < 0 || t.bucket > 2 ||
                           !(t == tag(static_cast<says>(t.bucket), t.step, t.offset))))
                return false;
            if (h->bytes != (waits ? 0 : 4 * tensors_)) return false;
            link.receive(t, waits ? span<std::byte>() : as_writable_bytes(x));
            if (!wait(link, POLLIN, until, leave, [&] { return link.fill(); })) return false;
            if (!waits) return true;
        }
    }
};

} // namespace sinter::parameter_servers
