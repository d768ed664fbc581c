// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/processors.hpp>
#include <sinter/collective/mpi_group.hpp>
#include <sinter/collective/mpi_members.hpp>
#include <sinter/collective/mpi_messages.hpp>
#include <sinter/collective/queued_communicator.hpp>
#include <sinter/collective/transport_engine.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/identity.hpp>

namespace sinter::inline SINTER_ORDINARY {
namespace collective {

/// Pieces as messages from member to member. What they belong to has been agreed on before.
class mpi_transport final : public transport {
public:
    explicit mpi_transport(mpi_members& m)
        : members_(m), sends_(static_cast<std::size_t>(m.size()), MPI_REQUEST_NULL), receives_(sends_) {}
    int rank() const override { return members_.rank(); }
    int size() const override { return members_.size(); }
    std::int64_t largest_piece() const override { return 1 << 20; }
    void send(int peer, const job& j, std::int64_t, span<const std::byte> bytes) override {
        members_.need(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, mpi_members::piece_tag,
                                members_.comm(), &sends_[static_cast<std::size_t>(peer)]),
                      j.what);
    }
    bool sent(int peer) override { return over(sends_[static_cast<std::size_t>(peer)]); }
    void receive(int peer, const job& j, std::int64_t, span<std::byte> bytes) override {
        members_.need(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, mpi_members::piece_tag,
                                members_.comm(), &receives_[static_cast<std::size_t>(peer)]),
                      j.what);
    }
    bool received(int peer) override { return over(receives_[static_cast<std::size_t>(peer)]); }
    void wait(int, int) override { base::yield_core(); }

private:
    mpi_members& members_;
    std::vector<MPI_Request> sends_, receives_;
    bool over(MPI_Request& r) {
        int flag = 0;
        members_.need(MPI_Test(&r, &flag, MPI_STATUS_IGNORE), {});
        return flag != 0;
    }
};

/// MPI's blocking collectives for sums; what must be in the order of the tree, and what MPI has no
/// operation for (a maximum that keeps NaNs, rows), by our algorithms over its messages.
class mpi_engine final : public engine {
public:
    explicit mpi_engine(std::shared_ptr<mpi_members> m)
        : members_(std::move(m)),
          ours_(algorithm::halving_doubling, std::make_unique<mpi_transport>(*members_), 1 << 20) {}

    bool on_any_thread() const override { return members_->any_thread(); }
    std::unique_ptr<engine> split(communicator&, const group_of_members& g,
                                  const std::shared_ptr<membership>& these) override {
        return mpi_group_engine::of(members_, g, these);
    }
    void perform(const operation& o, std::int64_t number, void* data, std::int64_t n) override {
        if (members_->size() == 1) return;
        const std::lock_guard lock(members_->mutex());
        members_->check();   // once it has failed nobody comes any more
        members_->agree(o, n);
        const bool sums = o.how == reduction::sum;
        switch (o.what) {
            case kind::barrier: return;   // that was it
            case kind::all_reduce:
            case kind::reduce_scatter:   // as an all-reduce, so that either gives the same bits
                if (!sums) break;
                return in_chunks(o, data, 0, n, [&](void* at, int count) {
                    return MPI_Allreduce(MPI_IN_PLACE, at, count, type_of(o.type), MPI_SUM, members_->comm());
                });
            case kind::broadcast:
                return in_chunks(o, data, 0, n, [&](void* at, int count) {
                    return MPI_Bcast(at, count, type_of(o.type), o.root, members_->comm());
                });
            case kind::all_gather:
                for (int r = 0; r < members_->size(); ++r) {
                    const auto [first, end] = part_of(n, r, members_->size());
                    in_chunks(o, data, first, end, [&](void* at, int count) {
                        return MPI_Bcast(at, count, type_of(o.type), r, members_->comm());
                    });
                }
                return;
            case kind::all_reduce_tree:
            case kind::reduce_scatter_tree:
            case kind::all_gather_rows:
            case kind::shift: break;
        }
        ours_.perform(o, number, data, n);
    }

private:
    std::shared_ptr<mpi_members> members_;
    transport_engine ours_;

    static MPI_Datatype type_of(element e) {
        switch (e) {
            case element::f32: return MPI_FLOAT;
            case element::f64: return MPI_DOUBLE;
            case element::i32: return MPI_INT32_T;
            case element::i64: return MPI_INT64_T;
            case element::u8: break;
        }
        return MPI_UINT8_T;
    }
    /// Counts are int in MPI's interface.
    template <class F>
    void in_chunks(const operation& o, void* data, std::int64_t first, std::int64_t end, F f) {
        constexpr std::int64_t most = std::int64_t{1} << 30;
        for (std::int64_t at = first; at < end; at += most)
            members_->need(
                f(static_cast<std::byte*>(data) + at * bytes_of(o.type), static_cast<int>(std::min(most, end - at))),
                o);
    }
};

}   // namespace collective

/// multi_worker<mpi>: the processes that mpirun (or srun) has started. MPI finds them and moves the
/// data; a death ends the whole job, by mpirun's hand. The thread level decides whether gradients
/// are reduced while others are computed, and whether there are messages between two members and groups of some:
/// MPI_THREAD_MULTIPLE, if somebody else has initialised MPI. (mpi_messages says what MPI cannot do for them.)
struct mpi {
    /// `who`: nobody needs to be listed; where several are, their number must be that of mpirun.
    static std::unique_ptr<collective::communicator> connect(const cluster& who, const wire::identity& same) {
        const auto m = std::make_shared<collective::mpi_members>();
        refuse_other_size(who.size() > 1 ? who.size() : started(), m->size());
        refuse_difference(*m, same);
        return std::make_unique<collective::queued_communicator>(m, std::make_unique<collective::mpi_engine>(m),
                                                                 std::make_shared<collective::mpi_messages>(m));
    }

private:
    /// How many processes the launcher says that it has started; 0: it says nothing.
    SINTER_COLD static int started() {
        for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
            if (const char* const value = std::getenv(name)) return std::atoi(value);
        return 0;
    }
    /// N processes that each think they are alone train N models, and nobody notices.
    SINTER_COLD static void refuse_other_size(int expected, int size) {
        if (expected > 0 && expected != size)
            throw option_error("MPI's world has another size than the job (is mpirun of the same MPI as the program?)",
                               "mpi", std::to_string(size), std::to_string(expected));
    }
    SINTER_COLD static void refuse_difference(const collective::mpi_members& m, const wire::identity& mine) {
        const auto own = std::array{mine.model, mine.layout, mine.policy};
        std::vector<std::array<std::uint64_t, 3>> all(static_cast<std::size_t>(m.size()));
        m.need(MPI_Allgather(own.data(), 3, MPI_UINT64_T, all.data(), 3, MPI_UINT64_T, m.comm()), {});
        constexpr const char* names[] = {"model", "layout of memory", "strategy or its options"};
        for (int r = 1; r < m.size(); ++r)
            for (std::size_t k = 0; k < 3; ++k)
                if (all[static_cast<std::size_t>(r)][k] != all[0][k])
                    throw cluster_error(r, m.role(r), "", "start", -1,
                                        std::string("another ") + names[k] + " than rank 0");
    }
};

}   // namespace sinter::inline SINTER_ORDINARY
