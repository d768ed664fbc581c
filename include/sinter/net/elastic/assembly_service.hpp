// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/message.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/elastic/assembly.hpp>
#include <sinter/net/elastic/datagram.hpp>
#include <sinter/net/endpoint.hpp>
#include <sinter/net/job_key.hpp>
#include <sinter/net/openssl.hpp>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <poll.h>

namespace sinter::inline SINTER_ORDINARY::wire {

/// An assembly with its transport: datagrams (UDP) at the address and port that the roster has for this
/// task, each with an HMAC-SHA256 by the job's key. It listens there, and answers, from its making
/// to its end, on a thread of its own: also while this process trains or waits for others.
class assembly_service {
public:
    /// Throws cluster_error where the port is in use or a name has no address, option_error where
    /// the roster does not say where all tasks are.
    assembly_service(const cluster& who, int most, const identity& same = {})
        : who_(who), key_(datagram_key(who.options)),
          state_({.slots = who.size(), .most = most, .dead_after = who.options.dead_after,
                  .stuck_after = who.options.stuck_after(), .join_within = who.options.join_within,
                  .same = same},
                 who.rank(), &random_number, base::monotonic_seconds()) {
        who_.options.check();
        check_key_length(who_.options.key, "cluster_options::key");
        if (!who_.addresses_known())
            throw option_error("an elastic job needs all addresses, since any member may end and come again",
                               who_.how(), "that of rank 0 alone", "a roster of all: TF_CONFIG, arguments or a list");
        for (int r = 0; r < who_.size(); ++r) {
            const auto& m = who_.member(r);
            const resolution found = resolve(m.address());
            if (!found.fault.empty()) throw fault(r, "the name of its host cannot be resolved: " + found.fault);
            if (who_.options.key.empty() && !who_.options.insecure && !found.endpoints[0].is_loopback())
                throw option_error(
                    "a job without a key whose members are not all on this machine's loopback device",
                    "cluster_options::key", text_of(m.address()),
                    "the same secret for all members (SINTER_KEY_FILE or SINTER_KEY), or insecure = true");
            at_.push_back(found.endpoints[0]);
        }
        const endpoint& own = at_[static_cast<std::size_t>(who_.rank())];
        socket_ = io::descriptor(::socket(own.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        if (!socket_ || ::bind(socket_.get(), own.address(), own.size) != 0)
            throw fault(who_.rank(),
                        errno == EADDRINUSE
                            ? "the port is in use: another process listens there, or this task was started twice"
                            : "cannot listen there: " + std::generic_category().message(errno));
        thread_ = base::posix_thread([this] { serve(); });
    }
    assembly_service(const assembly_service&) = delete;
    assembly_service& operator=(const assembly_service&) = delete;
    SINTER_COLD ~assembly_service() {
        stop_.store(true);
        thread_.join();
    }

    /// f(assembly, now, send), while nobody else has it.
    template <class F>
    auto use(F f) {
        const std::unique_lock hold(mutex_);
        return f(state_, base::monotonic_seconds(), sender());
    }
    /// Waits until f(assembly, now) is true.
    template <class F>
    SINTER_COLD void wait(F f) {
        std::unique_lock hold(mutex_);
        while (!f(state_, base::monotonic_seconds())) changed_.wait_for(hold, std::chrono::milliseconds(20));
    }
    const cluster& roster() const { return who_; }
    /// Whether some process waits to join, and there is a place for it. Cheap.
    bool somebody_waits() const { return waits_.load(std::memory_order_relaxed); }
    SINTER_COLD cluster_error fault(int slot, std::string cause) const {
        const auto& m = who_.member(slot);
        return {slot, m.name(), text_of(m.address()), "agreeing on members", -1, std::move(cause)};
    }

private:
    static constexpr std::size_t longest = 60000;   // of a datagram

    cluster who_;
    digest key_;
    std::vector<endpoint> at_;   // by slot
    io::descriptor socket_;
    std::mutex mutex_;
    std::condition_variable changed_;
    assembly state_;
    std::atomic<bool> stop_{false}, waits_{false};
    base::posix_thread thread_;

    SINTER_COLD static std::uint64_t random_number() {
        std::uint64_t x;
        fill_random({reinterpret_cast<std::byte*>(&x), sizeof x});
        return x;
    }
    SINTER_COLD assembly::send sender() {
        return [this](int slot, const assembly_message& m) {
            const std::string bytes = datagram_of(m, key_);
            const endpoint& to = at_[static_cast<std::size_t>(slot)];
            ::sendto(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, to.address(), to.size);
        };
    }
    SINTER_COLD void serve() {
        std::vector<std::byte> bytes(longest);
        double next = 0;
        while (!stop_.load()) {
            pollfd p{socket_.get(), POLLIN, 0};
            ::poll(&p, 1, 25);
            for (int k = 0; k < 100; ++k) {
                const auto n = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
                if (n < 0) break;
                take({bytes.data(), static_cast<std::size_t>(n)});
            }
            const double now = base::monotonic_seconds();
            if (now < next) continue;
            next = now + 0.05;
            const std::unique_lock hold(mutex_);
            state_.tick(now, sender());
            waits_.store(state_.somebody_waits(now), std::memory_order_relaxed);
            for (const assembly::event& e : state_.take_events())
                base::say(message_level::warning,
                          to_text({who_.member(e.slot).name(), " at ", text_of(who_.member(e.slot).address()), " ",
                                  e.text}), who_.self().name());
            changed_.notify_all();
        }
        const std::unique_lock hold(mutex_);
        state_.end();
        state_.send_end(sender());
    }
    /// What is not of this job, or damaged, is left alone.
    SINTER_COLD void take(span<const std::byte> bytes) {
        const auto m = message_of(bytes, key_);
        if (!m) return;
        const std::unique_lock hold(mutex_);
        state_.receive(*m, base::monotonic_seconds(), sender());
        changed_.notify_all();
    }
};

} // namespace sinter::wire
