// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "net/linked_pair.hpp"
#include "support/members.hpp"
#include <sinter/collective/first_error.hpp>
#include <sinter/collective/queued_communicator.hpp>
#include <sinter/collective/tcp_transport.hpp>
#include <sinter/collective/transport_engine.hpp>
#include <sys/eventfd.h>

// Members that are threads, connected by TCP over the loopback device.
namespace sinter::test {

struct linked_job {
    explicit linked_job(int members, bool secret) : links(static_cast<std::size_t>(members)) {
        for (auto& l : links) l.resize(links.size());
        for (std::size_t a = 0; a < links.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                auto [one, other] = linked::both(secret);
                links[a][b] = std::make_unique<wire::data_link>(std::move(one));
                links[b][a] = std::make_unique<wire::data_link>(std::move(other));
            }
    }
    std::vector<std::vector<std::unique_ptr<wire::data_link>>> links;
    first_error error;
    io::descriptor failed{::eventfd(0, EFD_NONBLOCK)};
    void check() {
        if (error) error.rethrow();
    }
    std::vector<wire::data_link*> of(int rank) {
        std::vector<wire::data_link*> all;
        for (auto& l : links[static_cast<std::size_t>(rank)]) all.push_back(l.get());
        return all;
    }
};

class linked_membership final : public membership {
public:
    linked_membership(std::shared_ptr<linked_job> j, int rank) : job_(std::move(j)), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(job_->links.size()); }
    void check() override { job_->check(); }
    void fail(const cluster_error& e) noexcept override {
        job_->error.set(e);
        ::eventfd_write(job_->failed.get(), 1);
    }
    std::string role(int rank) const override { return "worker/" + std::to_string(rank); }

private:
    std::shared_ptr<linked_job> job_;
    int rank_;
};

inline std::vector<std::unique_ptr<communicator>> connected_by_links(int members, algorithm a, bool secret,
                                                                     bool may_spin) {
    const auto j = std::make_shared<linked_job>(members, secret);
    std::vector<std::unique_ptr<communicator>> all;
    for (int r = 0; r < members; ++r)
        all.push_back(std::make_unique<queued_communicator>(
            std::make_shared<linked_membership>(j, r),
            std::make_unique<transport_engine>(a, std::make_unique<tcp_transport>(
                                                      r, j->of(r), j->failed.get(), [j] { j->check(); }, may_spin))));
    return all;
}

}   // namespace sinter::test
