// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/channel.hpp>
#include <sinter/net/event_loop.hpp>
#include <sinter/net/handshake.hpp>

namespace sinter::inline SINTER_ORDINARY::wire {

/// A connection from its socket to the end of its handshake, within a time. Lives on the loop's
/// thread; `over` is called once, as the last thing that it does.
class pending_handshake {
public:
    enum class outcome : std::uint8_t { going_on, accepted, refused, lost, too_late };
    using judge = std::function<std::string(const greeting&)>;   // empty: accepted; else why not

    pending_handshake(event_loop& loop, channel c, handshake h, double within, judge decide,
                      std::function<void(pending_handshake&)> over)
        : channel_(std::move(c)), handshake_(std::move(h)), decide_(std::move(decide)), over_(std::move(over)),
          watch_(std::make_unique<watch>(loop, channel_.descriptor())), deadline_(loop) {
        deadline_.in(within, [this] { end(outcome::too_late, "no answer in time"); });
    }

    /// Begins; `connecting`: the socket's connect() goes on.
    SINTER_COLD void begin(bool connecting) {
        if (connecting) watch_->writable([this] { connected(); });
        else go_on();
    }

    outcome result() const { return result_; }
    /// What went wrong.
    const std::string& reason() const { return reason_; }
    /// Whether that is a reason that the other end or TLS gave: see join_failure.
    bool has_peer_reason() const { return has_peer_reason_; }
    const handshake& messages() const { return handshake_; }
    /// The connection, once accepted.
    SINTER_COLD channel take() {
        watch_.reset();
        return std::move(channel_);
    }

private:
    channel channel_;
    handshake handshake_;
    judge decide_;
    std::function<void(pending_handshake&)> over_;
    std::unique_ptr<watch> watch_;
    alarm deadline_;
    std::string reason_;
    outcome result_ = outcome::going_on;
    bool has_peer_reason_ = false;
    std::array<std::byte, handshake::most_bytes> in_{};
    std::size_t here_ = 0, gone_ = 0;

    SINTER_COLD void connected() {
        int fault = 0;
        socklen_t n = sizeof fault;
        if (::getsockopt(channel_.descriptor(), SOL_SOCKET, SO_ERROR, &fault, &n) != 0) fault = errno;
        if (fault != 0) return end(outcome::lost, std::generic_category().message(fault));
        go_on();
    }

    SINTER_COLD void go_on() {
        while (result_ == outcome::going_on) {
            if (handshake_.now() == handshake::state::to_decide) handshake_.decide(decide_(handshake_.peer()));
            const auto outgoing = handshake_.outgoing();
            const bool sends = !outgoing.empty();
            if (!sends && handshake_.now() == handshake::state::accepted) return end(outcome::accepted, {});
            if (!sends && handshake_.now() == handshake::state::refused)
                return end(outcome::refused, handshake_.reason());
            const iovec part = sends ? iovec{const_cast<std::byte*>(outgoing.data()) + gone_, outgoing.size() - gone_}
                                      : iovec{in_.data() + here_, handshake_.wanted() - here_};
            const transfer t = sends ? channel_.write(&part, 1) : channel_.read(&part, 1);
            if (t.how == transfer::must_wait) {
                if (t.wants == POLLIN) watch_->readable([this] { go_on(); });
                else watch_->writable([this] { go_on(); });
                return;
            }
            if (t.how == transfer::ended) return end(outcome::lost, "it closed the connection");
            if (t.how == transfer::failed) return end(outcome::lost, channel_.fault(t));
            if (sends) {
                gone_ += t.bytes;
                if (gone_ < outgoing.size()) continue;
                gone_ = 0;
                handshake_.sent();
            } else {
                here_ += t.bytes;
                const std::size_t wanted = handshake_.wanted();
                if (here_ < wanted) continue;
                handshake_.bind(channel_.binding());
                here_ = 0;
                handshake_.receive({in_.data(), wanted});
            }
        }
    }
    SINTER_COLD void end(outcome o, std::string reason) {
        if (result_ != outcome::going_on) return;
        result_ = o;
        reason_ = std::move(reason);
        has_peer_reason_ = o == outcome::refused || (o == outcome::lost && channel_.has_reason());
        deadline_.off();
        if (o != outcome::accepted) {
            watch_.reset();
            channel_.close();
        }
        auto over = std::move(over_);   // what it calls may destroy this
        over(*this);
    }
};

} // namespace sinter::wire
