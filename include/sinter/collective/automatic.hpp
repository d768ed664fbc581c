// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/collective/shared_memory.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// multi_worker<automatic>: shared memory where all members are on one machine; else TCP, with
/// halving and doubling for small operations and the ring for large ones.
struct automatic {
    SINTER_APART static std::unique_ptr<collective::communicator> connect(const cluster&, const wire::identity&);
};

}   // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <sinter/collective/tcp.hpp>

namespace sinter::inline SINTER_ORDINARY {
namespace collective {
/// Groups within one host by shared memory, where they can; others by TCP.
SINTER_COLD inline split_function split_automatically(const std::shared_ptr<net_membership>& m) {
    return [m](communicator& all, const group_of_members& g, const std::shared_ptr<membership>& these) {
        const bool one_host = these && these->size() > 1 && m->on_one_host(*these);
        return split_shared_memory(all, g, these, one_host, [&](const std::string&) {
            return tcp_engine_of_group(algorithm::automatic, m, g, *these);
        });
    };
}
}   // namespace collective

SINTER_COLD SINTER_APART std::unique_ptr<collective::communicator> automatic::connect(const cluster& who,
                                                                                      const wire::identity& same) {
    constexpr auto algorithm = static_cast<std::uint64_t>(collective::algorithm::automatic);
    const auto m = std::make_shared<collective::net_membership>(who, same.sent_by(algorithm));
    std::string why_not;
    std::unique_ptr<collective::engine> e;
    if (m->size() > 1 && m->on_one_host()) e = collective::shared_memory_among(m, why_not);
    if (!e) e = collective::tcp_engine(collective::algorithm::automatic, m);
    return collective::connected(m, std::move(e), collective::split_automatically(m));
}
}   // namespace sinter::inline SINTER_ORDINARY
#endif
