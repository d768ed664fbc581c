// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/connection.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// multi_worker<hierarchical>: for several processes on each of several hosts. Members of a host (those whose addresses
/// name the same one) add up their gradients through shared memory; then each member of a host and its counterparts on
/// the others add up one part over TCP; then each host's members pass their parts on. So a host's link carries
/// 2 (H - 1) / H of the gradients once, for H hosts, and not once for each member. Where hosts have unlike numbers of
/// members, the first of each host adds up all for it. All members first compare what they do, which takes log2 P short
/// messages.
///
/// All members have the same bits, and those of another run with the same hosts: within a host sums are in the order
/// of its tree, and between hosts in that of `automatic`. With as many members on each host, a power of two, whose
/// ranks follow each other, canonical<S>'s tree is added up the same way; else by TCP alone.
struct hierarchical {
    SINTER_APART static std::unique_ptr<collective::communicator> connect(const cluster&, const wire::identity&);
};

}   // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <sinter/collective/automatic.hpp>
#include <sinter/collective/hierarchical_engine.hpp>

namespace sinter::inline SINTER_ORDINARY {
SINTER_APART std::unique_ptr<collective::communicator> hierarchical::connect(const cluster& who,
                                                                             const wire::identity& same) {
    const auto m = std::make_shared<collective::net_membership>(who, same.sent_by(101));   // no algorithm's number
    std::vector<std::string> hosts;
    for (int r = 0; r < m->size(); ++r) hosts.push_back(m->group().roster().member(r).host);
    const auto layout = collective::host_layout::of(hosts, m->rank());
    auto made = std::make_unique<collective::hierarchical_engine>(
        layout, collective::tcp_engine(collective::algorithm::automatic, m));
    collective::hierarchical_engine& e = *made;
    auto all = collective::connected(m, std::move(made), collective::split_automatically(m));
    auto within = all->split(layout.host, 0);
    e.use(std::move(within), all->split(layout.counterparts(), 0));
    return all;
}
}   // namespace sinter::inline SINTER_ORDINARY
#endif
