// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/join_failure.hpp>
#include <sinter/net/name_lookup.hpp>
#include <sinter/net/service.hpp>
#include <algorithm>
#include <functional>
#include <optional>

namespace sinter::inline SINTER_ORDINARY::wire {

/// The side that dials servers. Any thread; it waits in its calls, and has no thread of its own.
class service_client {
public:
    /// `meanwhile` is called several times within heartbeat_every() while dial() waits: a caller that
    /// has other connections, too, says there that it lives. It throws nothing.
    service_client(const cluster& who, const identity& same, std::function<void()> meanwhile = {})
        : who_(who), own_(service_greeting(who, same)), meanwhile_(std::move(meanwhile)) {
        who_.options.check();
        check_key_length(who_.options.key, "cluster_options::key");
        if (who_.options.tls.any()) tls_ = std::make_unique<tls_context>(who_.options.tls);
    }

    const cluster& roster() const { return who_; }
    std::uint64_t incarnation() const { return own_.incarnation; }

    /// Dials server `index` once. Waits at most `within` seconds for the address of its host, where
    /// a name server is asked, and then as long for the end of the handshake. Nothing: it is not
    /// there (yet), and trouble() says why. Throws cluster_error where it refuses this process: for a
    /// reason that it proves, or, before any server has accepted this process, again and again.
    std::optional<data_link> dial(int index, double within) {
        const cluster_member& m = who_.servers()[static_cast<std::size_t>(index)];
        const host_port at = m.address();
        nobody_ = false;
        trouble_ = {};
        const double named = base::monotonic_seconds() + within;
        const std::optional<resolution> found = names_.find(at, slice(), [&] {
            if (meanwhile_) meanwhile_();
            return base::monotonic_seconds() < named;
        });
        if (!found) return miss("the name of its host is still being looked up", true);
        if (!found->fault.empty()) return miss("the name of its host cannot be resolved: " + found->fault, true);
        check_key(who_, at, found->endpoints);
        // A time of its own: a name server that always takes about `within` would leave none.
        const double until = base::monotonic_seconds() + within;
        for (const endpoint& to : found->endpoints) {
            io::descriptor socket = stream_socket(to.storage.ss_family);
            if (!socket) return miss("this process: " + error_text(errno), true);
            if (::connect(socket.get(), to.address(), to.size) != 0 && errno != EINPROGRESS && errno != EINTR) {
                nobody_ = errno == ECONNREFUSED;
                miss(std::generic_category().message(errno));
                continue;
            }
            auto cipher = tls_ ? tls_->begin(socket.get(), true) : nullptr;
            channel c(std::move(socket), std::move(cipher));
            handshake hs(true, own_, who_.options.key);
            if (!connected(c, until) || !shake_hands(c, hs, until)) continue;
            if (hs.in_doubt() && (knows_key_ || doubts_++ < handshake::most_doubts)) return miss(hs.reason(), true);
            if (hs.now() == handshake::state::refused) {
                if (hs.why() == handshake::refusal::not_sinter || hs.why() == handshake::refusal::busy)
                    return miss(hs.reason(), true);
                if (hs.why() == handshake::refusal::unwanted) {
                    refused_ = true;
                    return miss("it refuses this process: " + hs.reason(), true);
                }
                throw about(index, "joining the job", -1,
                            "this process, " + who_.self().name() + ", was refused: " + hs.reason());
            }
            const greeting& g = hs.peer();
            if (g.role != static_cast<std::uint8_t>(m.role) || g.index != m.index)
                throw about(index, "joining the job", -1, "another task of this job listens there");
            trouble_ = {};
            refused_ = false;
            knows_key_ = true;
            return data_link(std::move(c), hs.sending(), hs.receiving(),
                             {who_.size() + index, m.name(), text_of(at)});
        }
        return {};
    }
    const join_failure& trouble() const { return trouble_; }
    /// Whether the host of the last one that was dialled has answered that nobody listens there.
    bool nobody_there() const { return nobody_; }
    /// Whether the last one that was dialled was there, and does not want this process now.
    bool refused() const { return refused_; }

    /// Waits for one of these events. False: not by then. meanwhile() is called as by dial().
    bool poll_until(int descriptor, short events, double until) const {
        const double slice = meanwhile_ ? this->slice() : 1e9;
        for (;;) {
            if (meanwhile_) meanwhile_();
            const double left = until - base::monotonic_seconds();
            if (left <= 0) return false;
            pollfd p{descriptor, events, 0};
            if (::poll(&p, 1, static_cast<int>(std::min({left, slice, 1e6}) * 1000) + 1) > 0) return true;
        }
    }

    cluster_error about(int index, std::string operation, std::int64_t step, std::string cause) const {
        const cluster_member& m = who_.servers()[static_cast<std::size_t>(index)];
        return {who_.size() + index, m.name(), text_of(m.address()), std::move(operation), step, std::move(cause)};
    }

private:
    cluster who_;
    greeting own_;
    std::function<void()> meanwhile_;
    std::unique_ptr<tls_context> tls_;
    name_lookup names_;
    join_failure trouble_;   // of the last call of dial()
    bool refused_ = false, nobody_ = false;
    bool knows_key_ = false;   // some server has accepted it
    int doubts_ = 0;           // refusals that nobody has proved, before that

    double slice() const { return who_.options.heartbeat_every() / 4; }
    std::optional<data_link> miss(std::string why, bool is_reason = false) {
        trouble_.note(std::move(why), is_reason);
        return {};
    }
    bool ready(int descriptor, short events, double until) {
        if (poll_until(descriptor, events, until)) return true;
        return miss("no answer in time"), false;
    }
    bool connected(channel& c, double until) {
        if (!ready(c.descriptor(), POLLOUT, until)) return false;
        int fault = 0;
        socklen_t n = sizeof fault;
        if (::getsockopt(c.descriptor(), SOL_SOCKET, SO_ERROR, &fault, &n) != 0) fault = errno;
        nobody_ = fault == ECONNREFUSED;
        if (fault != 0) miss(std::generic_category().message(fault));
        return fault == 0;
    }
    /// True: the handshake is over, accepted or refused.
    SINTER_COLD bool shake_hands(channel& c, handshake& hs, double until) {
        std::array<std::byte, handshake::most_bytes> in{};
        std::size_t here = 0, gone = 0;
        for (;;) {
            const auto outgoing = hs.outgoing();
            const bool sends = !outgoing.empty();
            if (!sends && hs.now() != handshake::state::going_on) {
                if (hs.now() == handshake::state::to_decide) {
                    hs.decide({});
                    continue;
                }
                return true;
            }
            const iovec part = sends ? iovec{const_cast<std::byte*>(outgoing.data()) + gone, outgoing.size() - gone}
                                      : iovec{in.data() + here, hs.wanted() - here};
            const transfer t = sends ? c.write(&part, 1) : c.read(&part, 1);
            if (t.how == transfer::must_wait) {
                if (!ready(c.descriptor(), t.wants, until)) return false;
                continue;
            }
            if (t.how == transfer::ended) return miss("it closed the connection"), false;
            if (t.how == transfer::failed) return miss(c.fault(t), c.has_reason()), false;
            if (sends) {
                gone += t.bytes;
                if (gone < outgoing.size()) continue;
                gone = 0;
                hs.sent();
            } else {
                here += t.bytes;
                const std::size_t wanted = hs.wanted();
                if (here < wanted) continue;
                hs.bind(c.binding());
                here = 0;
                hs.receive({in.data(), wanted});
            }
        }
    }
};

} // namespace sinter::wire
