// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/elastic/datagram.hpp>
#include <sinter/net/endpoint.hpp>
#include <sinter/net/event_loop.hpp>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Processes of an elastic job meet by datagrams, others by connections. Where one of a job is elastic and another is
/// not, neither receives anything from the other, and both would wait for `join_within` and call it missing. So a
/// process that is not says so in datagrams until it has met the others, and receives who is. On the loop's thread.
class other_strategy {
public:
    /// `at`: addresses by rank. `found(rank)`: this one is elastic. Does nothing where the port is in use.
    other_strategy(event_loop& loop, const cluster& who, std::vector<std::vector<endpoint>> at,
                   std::function<void(int)> found)
        : at_(std::move(at)), found_(std::move(found)), key_(datagram_key(who.options)), rank_(who.rank()),
          again_(loop) {
        const std::vector<endpoint>& own = at_[static_cast<std::size_t>(rank_)];
        if (own.empty()) return;
        socket_ = io::descriptor(::socket(own[0].storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        if (!socket_ || ::bind(socket_.get(), own[0].address(), own[0].size) != 0) return;
        watch_ = std::make_unique<watch>(loop, socket_.get());
        listen();
        ask();
    }

private:
    std::vector<std::vector<endpoint>> at_;
    std::function<void(int)> found_;
    digest key_;
    int rank_;
    io::descriptor socket_;
    std::unique_ptr<watch> watch_;
    alarm again_;

    SINTER_COLD void ask() {
        assembly_message m;
        m.from.slot = rank_;
        m.state = assembly_state::stays;
        const std::string bytes = datagram_of(m, key_);
        for (std::size_t r = 0; r < at_.size(); ++r)
            if (static_cast<int>(r) != rank_ && !at_[r].empty())
                ::sendto(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, at_[r][0].address(),
                         at_[r][0].size);
        again_.in(0.1, [this] { ask(); });
    }
    SINTER_COLD void listen() {
        watch_->readable([this] {
            std::byte bytes[2048];   // a longer one is cut, and then none of ours
            for (int k = 0; k < 20; ++k) {
                const auto n = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
                if (n < 0) break;
                const auto m = message_of({bytes, static_cast<std::size_t>(n)}, key_);
                if (m && m->state != assembly_state::stays && m->from.slot != rank_ && m->from.slot >= 0 &&
                    m->from.slot < static_cast<int>(at_.size()))
                    found_(m->from.slot);
            }
            listen();
        });
    }
};

} // namespace sinter::wire
