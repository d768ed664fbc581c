// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/channel.hpp>
#include <sinter/net/control_message.hpp>
#include <sinter/net/event_loop.hpp>
#include <sinter/net/seal.hpp>
#include <deque>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Messages to and from one peer, in sealed frames of at most 64 KiB. Lives on the loop's thread.
class control_link {
public:
    static constexpr std::size_t most_bytes = std::size_t{1} << 16;
    using on_message = std::function<void(message::kind, span<const std::byte>)>;
    using on_lost = std::function<void(const std::string&)>;   // called once; nothing comes after it

    control_link(event_loop& loop, channel c, const direction_key& sending, const direction_key& receiving,
                 on_message received, on_lost lost)
        : channel_(std::move(c)), sealer_(sending), opener_(receiving), on_received_(std::move(received)),
          lost_(std::move(lost)),
          watch_(loop, channel_.descriptor()) {}

    void begin() { read_on(); }

    void send(message::kind k, const std::string& bytes) {
        frame_header h;
        h.kind = frame_kind::control;
        h.number = sent_;
        h.tag.operation = static_cast<std::uint32_t>(k);
        h.bytes = bytes.size();
        const header_block block = encode(h, sealer_.seed());
        sealer_.begin(sent_++);
        sealer_.update(block);
        sealer_.update(as_bytes(bytes));
        const seal::tag tag = sealer_.finish();
        std::string frame;
        frame.reserve(header_bytes + bytes.size() + seal_bytes);
        frame.append(reinterpret_cast<const char*>(block.data()), block.size());
        frame += bytes;
        frame.append(reinterpret_cast<const char*>(tag.data()), tag.size());
        queue_.push_back(std::move(frame));
        if (queue_.size() == 1) write_on();
    }
    /// Whether all that was sent has been taken by the system.
    bool idle() const { return queue_.empty(); }
    /// Says that no more comes; the peer reads to the end of what was sent.
    void shut_down() {
        channel_.shut_down();
    }

private:
    channel channel_;
    seal sealer_, opener_;
    on_message on_received_;
    on_lost lost_;
    watch watch_;
    bool deaf_ = false;
    std::deque<std::string> queue_;
    std::size_t gone_ = 0;              // bytes of the first in the queue
    std::uint64_t sent_ = 0, received_ = 0;
    header_block header_;
    std::vector<std::byte> body_;       // payload and seal
    frame_header current_;
    std::size_t here_ = 0;              // bytes of the frame that is being read

    void write_on() {
        while (!queue_.empty()) {
            const std::string& frame = queue_.front();
            const iovec part{const_cast<char*>(frame.data()) + gone_, frame.size() - gone_};
            const transfer t = channel_.write(&part, 1);
            if (t.how == transfer::must_wait) {
                if (t.wants == POLLOUT) watch_.writable([this] { write_on(); });
                else watch_.readable([this] { read_on(); write_on(); });
                return;
            }
            // The reader says what is wrong: what the peer sent last may still be there to be read.
            if (t.how == transfer::failed) {
                gone_ = 0;
                return queue_.clear();
            }
            gone_ += t.bytes;
            if (gone_ < frame.size()) continue;
            gone_ = 0;
            queue_.pop_front();
        }
    }

    void read_on() {
        while (!deaf_) {
            const bool in_header = here_ < header_bytes;
            const iovec part = in_header ? iovec{header_.data() + here_, header_bytes - here_}
                                         : iovec{body_.data() + (here_ - header_bytes), whole() - here_};
            const transfer t = channel_.read(&part, 1);
            if (t.how == transfer::must_wait) {
                if (t.wants == POLLIN) watch_.readable([this] { read_on(); });
                else watch_.writable([this] { write_on(); read_on(); });
                return;
            }
            // A process that ends before it has read all that came resets its connections.
            if (t.how == transfer::ended || (t.how == transfer::failed && t.error == ECONNRESET))
                return lose("the connection was closed: the process ended or was killed");
            if (t.how == transfer::failed)
                return lose("the connection was lost: " + channel_.fault(t));
            here_ += t.bytes;
            if (here_ == header_bytes && in_header && !take_header()) return;
            if (here_ == whole() && here_ > header_bytes) {
                const auto bytes = span<const std::byte>(body_).first(static_cast<std::size_t>(current_.bytes));
                opener_.begin(received_++);
                opener_.update(header_);
                opener_.update(bytes);
                if (!equal_in_constant_time(opener_.finish(), span<const std::byte>(body_).last(seal_bytes)))
                    return lose("a control message was damaged or forged");
                here_ = 0;
                // A copy of the link's life: what is called may destroy this.
                const std::weak_ptr<char> alive = alive_;
                on_received_(static_cast<message::kind>(current_.tag.operation), bytes);
                if (alive.expired()) return;
            }
        }
    }
    std::size_t whole() const { return header_bytes + static_cast<std::size_t>(current_.bytes) + seal_bytes; }
    bool take_header() {
        const header_fault f = decode(header_, opener_.seed(), current_);
        if (f != header_fault::none) return lose(to_text({"it sent ", describe(f)})), false;
        if (current_.kind != frame_kind::control || current_.number != received_ || current_.bytes > most_bytes)
            return lose("it sent a control message that is not the next, or too long"), false;
        body_.resize(static_cast<std::size_t>(current_.bytes) + seal_bytes);
        return true;
    }
    /// Takes in what still comes, and passes none of it on. (What is left unread when a socket is
    /// closed resets the connection, and what was sent last may be lost.)
    void drain() {
        std::byte rest[4096];
        const iovec part{rest, sizeof rest};
        transfer t{transfer::some};
        while (t.how == transfer::some) t = channel_.read(&part, 1);
        if (t.how == transfer::must_wait && t.wants == POLLIN) watch_.readable([this] { drain(); });
    }
    /// Receives no more. What is sent still goes: it may give the peer the reason.
    void lose(const std::string& cause) {
        deaf_ = true;
        drain();
        auto lost = std::move(lost_);
        lost(cause);
    }
    std::shared_ptr<char> alive_ = std::make_shared<char>();
};

} // namespace sinter::wire
