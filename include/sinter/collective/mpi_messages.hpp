// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <deque>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/os/processors.hpp>
#include <sinter/collective/mailbox.hpp>
#include <sinter/collective/mpi_members.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Messages over MPI, matched by our mailbox: so any tag is a tag, and any message may be given up. They are cut into
/// pieces of at most 1 MiB, copied, and given to MPI at once, up to `most_unsent` bytes to a member: so a send does not
/// wait for the receiver. What is more is sent by whoever waits for a message. There is no thread of their own: pieces
/// are taken while this member waits for a message, and MPI moves them while a member waits for anything. Beyond
/// `most_unawaited` bytes of one member that nobody awaits nothing more is taken from it until one of them is.
///
/// Needs MPI_THREAD_MULTIPLE. What MPI cannot do: an error, a time-out too, is thrown once all members have come to an
/// operation or wait for a message, or have left the job; a member that computes keeps the others waiting. A member's
/// death ends the whole job, by mpirun's hand, and no error is thrown.
class mpi_messages final : public messages {
public:
    static constexpr std::int64_t most_unsent = std::int64_t{256} << 20, most_unawaited = most_unsent;

    explicit mpi_messages(std::shared_ptr<mpi_members> m)
        : members_(std::move(m)), box_(members_), pairs_(static_cast<std::size_t>(members_->size())) {}
    ~mpi_messages() override {
        for (pair& p : pairs_) {
            for (piece& sent : p.on_their_way) mpi_members::leave(sent.request, sent.bytes);
            mpi_members::leave(p.comes.request, p.comes.bytes);
        }
    }

    message send(const message_name& n, span<const std::byte> x) override {
        members_->need_threads("messages between two members");
        const message m = box_.begin_send(n, static_cast<std::int64_t>(x.size()));
        if (n.peer == members_->rank()) {
            box_.deliver(n, x);
            box_.sent(m);
            return m;
        }
        const std::lock_guard hold(mutex_);
        pairs_[at(n.peer)].out.push_back({m, n, x});
        box_.work([&] { send_on(n.peer); });
        return m;
    }
    message receive(const message_name& n, span<std::byte> into) override {
        members_->need_threads("messages between two members");
        return box_.begin_receive(n, into);
    }
    void wait(message m, double within) override {
        const double until = monotonic_seconds() + within;
        try {
            while (!box_.is_done(m)) {
                look();
                if (box_.is_done(m) || !(monotonic_seconds() < until)) break;
                base::yield_core();
            }
        } catch (const cluster_error& e) {
            box_.raise(e);
        }
        box_.wait(m, 0, within);
    }

private:
    struct head {
        message_name name;   // the peer: who sends it
        std::int64_t bytes = 0;
    };
    static constexpr std::size_t piece_bytes = std::size_t{1} << 20, room = piece_bytes - sizeof(head);
    static constexpr int pieces_at_once = 16;   // of one member, before others are looked at
    struct outgoing {
        message number;
        message_name name;
        span<const std::byte> bytes;
        std::size_t gone = 0;
    };
    struct piece {
        std::vector<std::byte> bytes{};
        MPI_Request request = MPI_REQUEST_NULL;
    };
    struct pair {
        std::deque<outgoing> out;
        std::deque<piece> on_their_way;
        std::int64_t unsent = 0;   // bytes of these
        piece comes;
        bool here = false;         // it has come, and is not placed yet
        mailbox::arrival* arrival = nullptr;   // whose piece the next one is
    };

    std::shared_ptr<mpi_members> members_;
    mailbox box_;
    std::mutex mutex_;
    std::vector<pair> pairs_;   // by rank

    static std::size_t at(int r) { return static_cast<std::size_t>(r); }
    /// Moves what can be moved now. Throws the job's first error.
    void look() {
        members_->look();
        const std::unique_lock hold(mutex_, std::try_to_lock);
        if (!hold) return;   // another thread does
        box_.work([&] {
            for (int r = 0; r < members_->size(); ++r) {
                if (r == members_->rank()) continue;
                send_on(r);
                for (int k = 0; k < pieces_at_once && take(r); ++k) {}
            }
            box_.refuse_gone(
                [&](int r) { return r != members_->rank() && !pairs_[at(r)].here && members_->has_left(r); });
        });
    }
    void send_on(int r) {
        pair& p = pairs_[at(r)];
        while (!p.on_their_way.empty()) {
            int gone = 0;
            members_->need(MPI_Test(&p.on_their_way.front().request, &gone, MPI_STATUS_IGNORE), {});
            if (!gone) break;
            p.unsent -= static_cast<std::int64_t>(p.on_their_way.front().bytes.size());
            p.on_their_way.pop_front();
        }
        while (!p.out.empty() && p.unsent + static_cast<std::int64_t>(piece_bytes) <= most_unsent) {
            outgoing& o = p.out.front();
            const std::size_t n = std::min(o.bytes.size() - o.gone, room);
            const head h{{o.name.group, members_->rank(), o.name.tag}, static_cast<std::int64_t>(o.bytes.size())};
            piece& next = p.on_their_way.emplace_back();
            next.bytes.resize(sizeof h + n);
            std::memcpy(next.bytes.data(), &h, sizeof h);
            if (n > 0) std::memcpy(next.bytes.data() + sizeof h, o.bytes.data() + o.gone, n);
            p.unsent += static_cast<std::int64_t>(next.bytes.size());
            members_->send(r, mpi_members::message_tag, next.bytes, next.request);
            o.gone += n;
            if (o.gone < o.bytes.size()) continue;
            box_.sent(o.number);
            p.out.pop_front();
        }
    }
    /// False: no piece of this member is there, or there is no room.
    bool take(int r) {
        pair& p = pairs_[at(r)];
        if (!p.here) p.here = members_->receive(r, mpi_members::message_tag, p.comes.bytes, p.comes.request);
        if (!p.here) return false;
        head h;
        std::memcpy(&h, p.comes.bytes.data(), sizeof h);
        const auto n = static_cast<std::int64_t>(p.comes.bytes.size() - sizeof h);
        if (!box_.has_room(h.name, p.arrival, n, most_unawaited)) return false;
        if (!p.arrival) p.arrival = &box_.begin_arrival(h.name, h.bytes);
        const span<std::byte> to = box_.place(*p.arrival, n);
        if (n > 0) std::memcpy(to.data(), p.comes.bytes.data() + sizeof h, to.size());
        if (box_.placed(*p.arrival, n)) p.arrival = nullptr;
        p.here = false;
        return true;
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
