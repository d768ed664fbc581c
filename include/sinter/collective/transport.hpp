// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/communicator.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// One operation, as algorithms see it.
struct job {
    operation what;
    std::int64_t number = 0;   ///< of the operation, from 0
    std::byte* data = nullptr;
    std::int64_t n = 0;   ///< elements
};

/// Pieces of an operation's data to and from the other members: what algorithms are written
/// against. Each piece arrives whole and verified, or not at all: the receiver says what must come
/// next (operation, number of elements, offset, bytes), and anything else is an error. One thread
/// at a time.
class transport {
public:
    virtual ~transport() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// The most bytes of a piece.
    virtual std::int64_t largest_piece() const = 0;
    /// Begins to send. The bytes must stay until sent() has returned true.
    virtual void send(int peer, const job&, std::int64_t offset, span<const std::byte>) = 0;
    /// Goes on sending, without waiting. True: all is gone.
    virtual bool sent(int peer) = 0;
    /// Says what must come next, and where to.
    virtual void receive(int peer, const job&, std::int64_t offset, span<std::byte>) = 0;
    /// Goes on receiving, without waiting. True: it is there and verified.
    virtual bool received(int peer) = 0;
    /// Returns when it may be of use to ask again. `to`, `from`: peers that sent() or received()
    /// is false for, or -1. Throws the first error. After a while without any news it looks at what
    /// all others have sent, also those that nothing is expected of: members that do different
    /// things might wait for each other for ever. (Every operation begins with pieces to members
    /// of which at least one does not do the same.)
    virtual void wait(int to, int from) = 0;
};

/// What algorithms work with: memory beyond the operation's own is one piece.
class workshop {
public:
    /// Pieces of at most `piece` bytes.
    workshop(transport& t, std::int64_t piece)
        : transport_(t), piece_(piece), scratch_(static_cast<std::size_t>(piece)) {}

    int rank() const { return transport_.rank(); }
    int size() const { return transport_.size(); }
    std::int64_t piece_bytes() const { return piece_; }
    std::byte* scratch() { return scratch_.data(); }

    /// Sends `sends` pieces to one member while it receives `receives` from one. `send(k)` and
    /// `receive(k)` say which memory; `ready(k, received)` whether the k-th may be sent after so
    /// many have come; `got(k)` is called for each that has come.
    template <class Send, class Receive, class Ready, class Got>
    void exchange(const job& j, int to, std::int64_t sends, Send send, int from, std::int64_t receives, Receive receive,
                  Ready ready, Got got) {
        std::int64_t sent = 0, received = 0;
        bool sending = false, receiving = false;
        while (sent < sends || received < receives) {
            bool moved = false;
            if (!receiving && received < receives) {
                const auto [offset, bytes] = receive(received);
                transport_.receive(from, j, offset, bytes);
                receiving = true;
            }
            if (!sending && sent < sends && ready(sent, received)) {
                const auto [offset, bytes] = send(sent);
                transport_.send(to, j, offset, bytes);
                sending = true;
            }
            if (sending && transport_.sent(to)) {
                sending = false;
                ++sent;
                moved = true;
            }
            if (receiving && transport_.received(from)) {
                receiving = false;
                got(received++);
                moved = true;
            }
            if (!moved) transport_.wait(sending ? to : -1, receiving ? from : -1);
        }
    }

    struct outgoing {
        std::int64_t offset;
        span<const std::byte> bytes;
    };
    struct incoming {
        std::int64_t offset;
        span<std::byte> bytes;
    };

private:
    transport& transport_;
    std::int64_t piece_;
    std::vector<std::byte> scratch_;
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
