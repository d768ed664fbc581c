// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/os/processors.hpp>
#include <sinter/collective/mpi_members.hpp>
#include <sinter/collective/transport_engine.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Pieces between the members of a group, with a head each that says what they belong to. A group has a tag of MPI's
/// and no communicator of MPI's: operations of all members of a group cannot be given up once they have begun, and must
/// be, when a member of another group has failed. For the same reason MPI never has the caller's memory.
class mpi_group_transport final : public transport {
public:
    mpi_group_transport(std::shared_ptr<mpi_members> all, std::shared_ptr<membership> these, int tag)
        : all_(std::move(all)), these_(std::move(these)), tag_(tag), pairs_(static_cast<std::size_t>(these_->size())) {}
    ~mpi_group_transport() override {
        for (pair& p : pairs_) {
            mpi_members::leave(p.sending, p.out);
            mpi_members::leave(p.receiving, p.in);
        }
    }
    int rank() const override { return these_->rank(); }
    int size() const override { return these_->size(); }
    std::int64_t largest_piece() const override { return 1 << 20; }
    void send(int peer, const job& j, std::int64_t offset, span<const std::byte> bytes) override {
        pair& p = at(peer);
        const head h{j.what, j.number, j.n, offset};
        p.out.resize(sizeof h + bytes.size());
        std::memcpy(p.out.data(), &h, sizeof h);
        if (!bytes.empty()) std::memcpy(p.out.data() + sizeof h, bytes.data(), bytes.size());
        idle_since_ = 0;
        all_->send(these_->job_rank(peer), tag_, p.out, p.sending);
    }
    bool sent(int peer) override {
        int gone = 0;
        all_->need(MPI_Test(&at(peer).sending, &gone, MPI_STATUS_IGNORE), now_.what);
        return gone != 0;
    }
    void receive(int peer, const job& j, std::int64_t offset, span<std::byte> bytes) override {
        now_ = {j.what, j.number, j.n, offset};
        at(peer).into = bytes;
        idle_since_ = 0;
    }
    bool received(int peer) override {
        pair& p = at(peer);
        if (!comes(peer)) return false;
        refuse_other(peer);
        const head h = head_of(p);
        const std::size_t n = p.in.size() - sizeof h;
        if (h.offset != now_.offset || n != p.into.size()) throw differing_from(peer);   // of equal operations: never
        if (n > 0) std::memcpy(p.into.data(), p.in.data() + sizeof h, n);
        p.here = false;
        return true;
    }
    void wait(int to, int from) override {
        all_->look();
        if (from >= 0 && !comes(from)) refuse_left(from);
        base::yield_core();
        const double now = monotonic_seconds();
        if (idle_since_ == 0) idle_since_ = now;
        if (now - idle_since_ < stalled_after) return;
        idle_since_ = 0;   // somebody may have sent something else than what is awaited of somebody else
        for (int r = 0; r < size(); ++r)
            if (r != rank() && comes(r)) refuse_other(r);
        if (to >= 0 && !sent(to)) refuse_left(to);
    }

private:
    static constexpr double stalled_after = 0.1;
    struct head {
        operation what;
        std::int64_t number = 0, n = 0, offset = 0;
    };
    struct pair {
        std::vector<std::byte> out, in;
        MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
        bool here = false;   // `in` has come, and is not taken yet
        span<std::byte> into;
    };
    std::shared_ptr<mpi_members> all_;
    std::shared_ptr<membership> these_;
    int tag_;
    std::vector<pair> pairs_;   // by rank in the group
    head now_;
    double idle_since_ = 0;     // 0: something has just happened

    pair& at(int peer) { return pairs_[static_cast<std::size_t>(peer)]; }
    bool comes(int peer) {
        pair& p = at(peer);
        if (!p.here) p.here = all_->receive(these_->job_rank(peer), tag_, p.in, p.receiving);
        return p.here;
    }
    static head head_of(const pair& p) {
        head h;
        std::memcpy(&h, p.in.data(), sizeof h);
        return h;
    }
    void refuse_left(int peer) {
        if (all_->has_left(these_->job_rank(peer)))
            throw cluster_error(these_->job_rank(peer), these_->role(peer), "", name_of(now_.what), now_.what.step,
                                mpi_members::left_words);
    }
    /// A piece of the next operation waits there until its turn.
    void refuse_other(int peer) {
        const head h = head_of(at(peer));
        if (h.number == now_.number && (!same(h.what, now_.what) || h.n != now_.n)) throw differing_from(peer);
    }
    SINTER_COLD cluster_error differing_from(int peer) {
        const head h = head_of(at(peer));
        return differing(these_->job_rank(peer), these_->role(peer), "", h.what, h.n, now_.what, now_.n,
                         these_->job_rank(rank()));
    }
};

/// The operations of a group of some members: by our algorithms, over MPI's messages from member to member.
class mpi_group_engine final : public engine {
public:
    mpi_group_engine(std::shared_ptr<mpi_members> all, const std::shared_ptr<membership>& these, std::uint32_t number)
        : all_(std::move(all)),
          ours_(algorithm::automatic, std::make_unique<mpi_group_transport>(all_, these, tag_of(*all_, number))) {}
    void perform(const operation& o, std::int64_t number, void* data, std::int64_t n) override {
        all_->check();
        ours_.perform(o, number, data, n);
    }
    std::unique_ptr<engine> split(communicator&, const group_of_members& g,
                                  const std::shared_ptr<membership>& these) override {
        return of(all_, g, these);
    }
    /// As engine::split().
    static std::unique_ptr<engine> of(const std::shared_ptr<mpi_members>& all, const group_of_members& g,
                                      const std::shared_ptr<membership>& these) {
        all->need_threads("groups of some members");
        return these ? std::make_unique<mpi_group_engine>(all, these, g.number) : nullptr;
    }

private:
    std::shared_ptr<mpi_members> all_;
    transport_engine ours_;

    static int tag_of(const mpi_members& all, std::uint32_t number) {
        const std::int64_t tag = std::int64_t{mpi_members::message_tag} + number;
        if (tag > all.largest_tag())
            throw device_error("MPI has too few tags", "groups of some members", std::to_string(tag),
                               to_text({"at most ", all.largest_tag()}));
        return static_cast<int>(tag);
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
