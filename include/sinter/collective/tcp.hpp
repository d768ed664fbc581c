// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/collective/net_membership.hpp>
#include <sinter/collective/queued_communicator.hpp>
#include <sinter/collective/tcp_messages.hpp>
#include <sinter/collective/tcp_transport.hpp>
#include <sinter/collective/transport_engine.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// An algorithm over the connections of a job.
SINTER_COLD inline std::unique_ptr<transport_engine> tcp_engine(algorithm a, const std::shared_ptr<net_membership>& m) {
    std::vector<wire::data_link*> links;
    for (int r = 0; r < m->size(); ++r) links.push_back(r == m->rank() ? nullptr : &m->group().link(r));
    return std::make_unique<transport_engine>(a, std::make_unique<tcp_transport>(
                                                     m->rank(), std::move(links), m->group().failed_descriptor(),
                                                     [members = m.get()] { members->check(); }, m->may_spin()));
}

/// What all jobs of processes have in common: an engine that is watched, and messages between two members.
SINTER_COLD inline std::unique_ptr<communicator> connected(const std::shared_ptr<net_membership>& m,
                                                           std::unique_ptr<engine> e, split_function split) {
    return std::make_unique<queued_communicator>(
        m, std::make_unique<watched_engine>(m, std::move(e), std::move(split)), std::make_shared<tcp_messages>(m));
}

/// Connections of a group's members with each other, the further ones of the group's number.
class group_links {
public:
    group_links(std::shared_ptr<net_membership> m, const membership& these, std::uint32_t number)
        : members_(std::move(m)), number_(number) {
        for (int r = 0; r < these.size(); ++r) {
            ranks_.push_back(these.job_rank(r));
            if (r != these.rank()) members_->group().ask_further(ranks_.back(), number_);
        }
        for (int r = 0; r < these.size(); ++r)
            links_.push_back(r == these.rank() ? nullptr : &members_->group().wait_further(ranks_[at(r)], number_));
    }
    ~group_links() {
        for (std::size_t r = 0; r < links_.size(); ++r)
            if (links_[r]) members_->group().drop_further(ranks_[r], number_);
    }
    group_links(const group_links&) = delete;
    group_links& operator=(const group_links&) = delete;
    const std::vector<wire::data_link*>& by_rank() const { return links_; }
    void check() const { members_->check(); }

private:
    std::shared_ptr<net_membership> members_;
    std::uint32_t number_;
    std::vector<int> ranks_;   // in the job
    std::vector<wire::data_link*> links_;
    static std::size_t at(int r) { return static_cast<std::size_t>(r); }
};

/// The same for the members of a group.
SINTER_COLD inline std::unique_ptr<transport_engine> tcp_engine_of_group(algorithm a,
                                                                         const std::shared_ptr<net_membership>& m,
                                                                         const group_of_members& g,
                                                                         const membership& these) {
    const auto links = std::make_shared<group_links>(m, these, g.number);
    return std::make_unique<transport_engine>(
        a, std::make_unique<tcp_transport>(these.rank(), links->by_rank(), m->group().failed_descriptor(),
                                           [links] { links->check(); }, these.may_spin(), m->rank()));
}
/// How TCP splits.
SINTER_COLD inline split_function split_by_tcp(algorithm a, const std::shared_ptr<net_membership>& m) {
    return [a, m](communicator&, const group_of_members& g, const std::shared_ptr<membership>& these) {
        return std::unique_ptr<engine>(these ? tcp_engine_of_group(a, m, g, *these) : nullptr);
    };
}

/// Meets the other members (cluster_error says who is missing) and connects them by TCP.
SINTER_COLD inline std::unique_ptr<communicator> connect_tcp(algorithm a, const cluster& who,
                                                             const wire::identity& same) {
    const auto m = std::make_shared<net_membership>(who, same.sent_by(static_cast<std::uint64_t>(a)));
    return connected(m, tcp_engine(a, m), split_by_tcp(a, m));
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
