// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/net_membership.hpp>
#include <sinter/collective/queued_communicator.hpp>
#include <sinter/collective/tcp_transport.hpp>
#include <sinter/collective/transport_engine.hpp>

namespace sinter::inline SINTER_TARGET::collective {

/// An algorithm over the connections of a job.
inline std::unique_ptr<transport_engine> tcp_engine(algorithm a, const std::shared_ptr<net_membership>& m) {
    std::vector<wire::data_link*> links;
    for (int r = 0; r < m->size(); ++r) links.push_back(r == m->rank() ? nullptr : &m->group().link(r));
    return std::make_unique<transport_engine>(a, std::make_unique<tcp_transport>(
                                                     m->rank(), std::move(links), m->group().failed_descriptor(),
                                                     [members = m.get()] { members->check(); }, m->may_spin()));
}

/// Meets the other members (cluster_error says who is missing) and connects them by TCP.
inline std::unique_ptr<communicator> connect_tcp(algorithm a, const cluster& who, const wire::identity& same) {
    const auto m = std::make_shared<net_membership>(who, same.sent_by(static_cast<std::uint64_t>(a)));
    return std::make_unique<queued_communicator>(m, std::make_unique<watched_engine>(m, tcp_engine(a, m)));
}

}   // namespace sinter::inline SINTER_TARGET::collective
