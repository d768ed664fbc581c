// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/device_messages.hpp>
#include <sinter/collective/nccl_engine.hpp>

namespace sinter::inline SINTER_ORDINARY {
namespace collective {

/// Groups have an id of NCCL's each, which their first members make. A GPU that takes part in operations of several
/// groups at once may deadlock unless its processes start them in one order (NCCL's user guide, "Using multiple NCCL
/// communicators concurrently"): wait for those of one group before those of another are started.
inline split_function split_by_nccl(const std::shared_ptr<net_membership>& m, int device) {
    return [m, device](communicator& all, const group_of_members& g, const std::shared_ptr<membership>& these) {
        const auto from_first = [&](const std::string& mine) {
            const auto gathered = all.all_gather(as_bytes(mine));
            if (g.ranks.empty()) return std::string();
            const auto& s = gathered[static_cast<std::size_t>(g.ranks.front())];
            return std::string(reinterpret_cast<const char*>(s.data()), s.size());
        };
        if (these)
            return std::unique_ptr<engine>(std::make_unique<nccl_engine>(
                these, tcp_engine_of_group(algorithm::automatic, m, g, *these), device, from_first));
        from_first({});
        return std::unique_ptr<engine>();
    };
}

}   // namespace collective

/// multi_worker<nccl>: processes with a GPU each, the one that is current where connect() is called, whose gradients
/// NCCL sums. They meet over TCP as others do, and NCCL's id travels over that connection, as do messages between two.
struct nccl {
    static std::unique_ptr<collective::communicator> connect(const cluster& who, const wire::identity& same) {
        const auto m = std::make_shared<collective::net_membership>(who, same);
        int device = 0;
        if (const cudaError_t e = ::cudaGetDevice(&device); e != cudaSuccess)
            throw cluster_error(m->rank(), m->role(m->rank()), m->address(m->rank()), "start", -1,
                                std::string("CUDA refuses a device: ") + ::cudaGetErrorString(e));
        auto e = std::make_unique<collective::nccl_engine>(
            m, collective::tcp_engine(collective::algorithm::automatic, m), device,
            [&](const std::string& mine) { return m->group().exchange("NCCL's id", mine).at(0); });
        return std::make_unique<collective::queued_communicator>(
            m, std::make_unique<collective::watched_engine>(m, std::move(e), collective::split_by_nccl(m, device)),
            std::make_shared<collective::device_messages>(std::make_shared<collective::tcp_messages>(m), device));
    }
};

}   // namespace sinter::inline SINTER_ORDINARY
