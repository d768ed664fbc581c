// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/net/channel.hpp>
#include <sinter/net/frame.hpp>
#include <sinter/net/seal.hpp>
#include <algorithm>
#include <poll.h>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Whom a connection leads to, for errors.
struct peer_name {
    int rank = -1;
    std::string role, address;   // "worker/2", "host:port"
};

/// A connection ended: often the consequence of an error that its other end knows better.
struct lost_connection : cluster_error { using cluster_error::cluster_error; };
/// What came is not what was sent. Nothing of the frame may be used, and nothing can follow it; the
/// peer itself may be sound.
struct damaged_connection : cluster_error { using cluster_error::cluster_error; };

/// Frames to and from one peer over a connection that does not block. One thread at a time uses it;
/// sending and receiving do not wait for each other. What does not fit (number, tag, size, seal) is
/// a cluster_error, and nothing of such a frame is ever reported as received: until fill() has
/// returned true, the bytes in `into` do not count. After an error the link is of no more use.
class data_link {
public:
    static constexpr std::size_t max_payload() { return most_payload; }

    data_link(channel c, const direction_key& sending, const direction_key& receiving, peer_name peer)
        : channel_(std::move(c)), peer_(std::move(peer)), sealer_(sending), opener_(receiving) {}

    /// To poll for reading while a frame is expected, and for writing while flush() returns false
    /// (under TLS each may also wait for the other: see wants()).
    int descriptor() const { return channel_.descriptor(); }
    /// The events of poll() that the last flush() and fill() that were not done wait for.
    short wants() const {
        return static_cast<short>((sending_ || waiting() > 0 ? send_wants_ : 0) | (receiving_ ? receive_wants_ : 0));
    }
    /// Whether bytes have arrived that poll() does not show: TLS decrypts more than was
    /// requested, and read_ahead() reads more. Those of a frame that is being received have been
    /// taken already.
    bool has_more() const {
        return channel_.has_more() || (!receiving_ && buffered() > 0 && buffered() >= header_bytes - ahead_);
    }
    /// One read takes in frames that have come after the one that is expected, up to so many bytes
    /// of them: for short messages. Whoever polls has to ask has_more() first.
    void read_ahead(std::size_t bytes) { buffer_.resize(bytes); }
    const peer_name& peer() const { return peer_; }

    /// Begins a frame of at most max_payload() bytes, which stay the caller's until flush() has
    /// returned true. The frame before must be gone. The payload may be in two places.
    void send(const frame_tag& tag, span<const std::byte> payload, span<const std::byte> tail = {}) {
        if (sending_) misuse("send() before flush() has returned true");
        if (payload.size() + tail.size() > most_payload) misuse("a payload longer than max_payload()");
        begin_frame(tag, payload.size() + tail.size());
        payload_out_ = {payload, tail};
        gone_ = sealed_ = 0;
        sending_ = true;
        if (payload_size() == 0) out_seal_ = sealer_.finish();
        out_tag_ = tag;
        send_wants_ = POLLOUT;
    }

    /// The same for a short frame, which is copied: it leaves with those that follow, at the next
    /// flush().
    void send_later(const frame_tag& tag, span<const std::byte> payload) {
        if (sending_) misuse("send_later() before flush() has returned true");
        if (payload.size() > most_payload) misuse("a payload longer than max_payload()");
        begin_frame(tag, payload.size());
        sealer_.update(payload);
        const seal::tag end = sealer_.finish();
        later_.insert(later_.end(), out_.begin(), out_.end());
        later_.insert(later_.end(), payload.begin(), payload.end());
        later_.insert(later_.end(), end.begin(), end.end());
        out_tag_ = tag;
        send_wants_ = POLLOUT;
    }
    /// Bytes that send_later() has left and that are not gone.
    std::size_t waiting() const { return later_.size() - later_gone_; }

    /// Writes what the socket takes now. True: all is gone (or nothing was to be sent).
    bool flush() {
        while (sending_ || waiting() > 0) {
            iovec parts[5];
            int n = 0;
            if (waiting() > 0) parts[n++] = {later_.data() + later_gone_, waiting()};
            if (sending_) add_frame(parts, n);
            const transfer t = written(parts, n);
            if (t.how == transfer::must_wait) return false;
            const std::size_t of_frame = took_later(t.bytes);
            if (!sending_) continue;
            gone_ += of_frame;
            sending_ = gone_ < header_bytes + payload_size() + seal_bytes;
        }
        return true;
    }

    /// Bytes that the socket has taken since the connection was made.
    std::uint64_t written() const { return written_; }

    /// Says what the next frame must be; its payload goes to `into`.
    void receive(const frame_tag& expected, span<std::byte> into) {
        if (receiving_) misuse("receive() before fill() has returned true");
        if (into.size() > most_payload) misuse("a payload longer than max_payload()");
        in_tag_ = expected;
        payload_in_ = into;
        here_ = ahead_;
        opened_ = 0;
        receiving_ = true;
        receive_wants_ = POLLIN;
    }

    /// Reads what is there. True: the whole frame is there and is what was expected (or none was
    /// awaited).
    bool fill() {
        if (receiving_ && ahead_ == header_bytes) check_header();
        ahead_ = 0;
        while (receiving_) {
            const transfer t = read_more();
            if (t.how == transfer::must_wait) return receive_wants_ = t.wants, false;
            if (t.how != transfer::some) lost("read", t, in_tag_);
            const std::size_t before = here_;
            here_ += t.bytes;
            if (before < header_bytes && here_ >= header_bytes) check_header();
            if (here_ > header_bytes) {
                const std::size_t payload = std::min(here_ - header_bytes, payload_in_.size());
                opener_.update(payload_in_.first(payload).subspan(opened_));
                opened_ = payload;
            }
            if (here_ < header_bytes + payload_in_.size() + seal_bytes) continue;
            if (!equal_in_constant_time(opener_.finish(), in_seal_))
                fail(opener_.secret() ? "a frame was damaged or forged: its MAC is wrong"
                                    : "a frame was damaged: its checksum is wrong", in_tag_);
            ++received_;
            receiving_ = false;
        }
        return true;
    }

    /// The tag of the next frame, if its header has come although no receive() says what is
    /// expected; else null. For whoever waits long, and wonders whether others do the same as it
    /// does.
    const frame_tag* peek() {
        if (receiving_) return nullptr;
        while (ahead_ < header_bytes) {
            iovec parts[2] = {{in_.data() + ahead_, header_bytes - ahead_}, {}};
            const transfer t = read(parts, 1, true);
            if (t.how == transfer::must_wait) return nullptr;
            if (t.how != transfer::some) lost("read", t, {});
            ahead_ += t.bytes;
        }
        frame_header h;
        if (decode(in_, opener_.seed(), h) != header_fault::none) return nullptr;   // receive() will say so
        peeked_ = h.tag;
        return &peeked_;
    }
    /// The next frame's header once it is there, where the receiver does not know what comes:
    /// receive() then takes its tag and length, if they are fit. What is no header of the next
    /// frame is a cluster_error. Nothing is proved before the payload is there and fill() has
    /// returned true.
    const frame_header* next() {
        if (receiving_) misuse("next() before fill() has returned true");
        peek();
        if (ahead_ < header_bytes) return nullptr;
        if (const header_fault f = decode(in_, opener_.seed(), next_); f != header_fault::none)
            fail(to_text({"this peer sent ", describe(f)}), {});
        if (next_.kind != frame_kind::data || next_.number != received_)
            fail(to_text({"this peer sent frame ", next_.number, " where frame ", received_,
                         " was due: repeated, lost or out of order"}), next_.tag);
        return &next_;
    }
    /// Throws that what peek() found is not what `expected` says.
    [[noreturn]] void refuse(const frame_tag& expected) {
        frame_header h;
        decode(in_, opener_.seed(), h);
        differ(h, expected, 0);
    }
    /// The text of a tag, for errors; what can be said of two that differ, of the peer and of this process.
    using difference = std::string (*)(const frame_tag& theirs, int peer, const frame_tag& own, int rank);
    void describe_with(std::string (*text)(const frame_tag&, std::uint64_t), difference why = nullptr, int rank = -1) {
        describe_ = text, why_ = why, rank_ = rank;
    }

    /// Notifies the peer that no more will be sent; what it still sends can be read.
    void shut_down() noexcept { channel_.shut_down(); }
    void close() noexcept { channel_.close(); }

private:
    static constexpr std::size_t chunk = std::size_t{1} << 18;   // what is sealed at a time, while it is in the cache
    channel channel_;
    peer_name peer_;
    seal sealer_, opener_;
    frame_tag out_tag_, in_tag_;
    header_block out_, in_;
    seal::tag out_seal_, in_seal_;
    std::array<span<const std::byte>, 2> payload_out_;
    span<std::byte> payload_in_;
    frame_tag peeked_;
    frame_header next_;
    std::string (*describe_)(const frame_tag&, std::uint64_t) = describe;
    difference why_ = nullptr;
    int rank_ = -1;   // of this process
    std::uint64_t sent_ = 0, received_ = 0;   // frames
    std::uint64_t written_ = 0;
    std::size_t gone_ = 0, sealed_ = 0, here_ = 0, opened_ = 0;   // bytes of frame, payload, frame, payload
    std::size_t ahead_ = 0;                   // bytes of a header that peek() has read
    std::vector<std::byte> later_, buffer_;   // short frames to send; what was read ahead
    std::size_t later_gone_ = 0, buffer_begin_ = 0, buffer_end_ = 0;
    bool sending_ = false, receiving_ = false;
    short send_wants_ = POLLOUT, receive_wants_ = POLLIN;

    /// Seals the next chunk as soon as the one before is gone.
    void seal_ahead() {
        if (sealed_ == payload_size() || gone_ < sealed_) return;
        const std::size_t n = std::min(chunk, payload_size() - sealed_);
        each_part(sealed_, sealed_ + n, [&](span<const std::byte> p) { sealer_.update(p); });
        sealed_ += n;
        if (sealed_ == payload_size()) out_seal_ = sealer_.finish();
    }
    std::size_t payload_size() const { return payload_out_[0].size() + payload_out_[1].size(); }
    /// f(bytes) of bytes [from, to) of the payload.
    template <class F>
    void each_part(std::size_t from, std::size_t to, F f) const {
        std::size_t first = 0;
        for (const auto& p : payload_out_) {
            const std::size_t a = std::max(from, first), b = std::min(to, first + p.size());
            if (a < b) f(p.subspan(a - first, b - a));
            first += p.size();
        }
    }

    void begin_frame(const frame_tag& tag, std::size_t payload) {
        out_ = encode({frame_kind::data, sent_, tag, payload}, sealer_.seed());
        sealer_.begin(sent_++);
        sealer_.update(out_);
    }
    /// What is sealed of the frame that is being sent, and not gone: up to four parts.
    void add_frame(iovec* parts, int& n) {
        seal_ahead();
        const std::size_t sealed = header_bytes + sealed_;
        if (gone_ < header_bytes) parts[n++] = {out_.data() + gone_, header_bytes - gone_};
        if (const std::size_t from = std::max(gone_, header_bytes); from < sealed)
            each_part(from - header_bytes, sealed_, [&](span<const std::byte> p) {
                parts[n++] = {const_cast<std::byte*>(p.data()), p.size()};
            });
        if (sealed_ < payload_size()) return;
        const std::size_t of_seal = gone_ > sealed ? gone_ - sealed : 0;
        parts[n++] = {out_seal_.data() + of_seal, seal_bytes - of_seal};
    }
    transfer written(const iovec* parts, int n) {
        const transfer t = channel_.write(parts, n);
        if (t.how == transfer::failed) lost("write", t, out_tag_);
        if (t.how == transfer::must_wait) send_wants_ = t.wants;
        else written_ += t.bytes;
        return t;
    }
    /// Of n bytes that are gone, those that are after what send_later() has left.
    std::size_t took_later(std::size_t n) {
        const std::size_t of_later = std::min(n, waiting());
        later_gone_ += of_later;
        if (waiting() == 0) later_.clear(), later_gone_ = 0;
        return n - of_later;
    }
    transfer read_more() {
        iovec parts[4];
        int n = 0;
        const std::size_t end = header_bytes + payload_in_.size();
        if (here_ < header_bytes) parts[n++] = {in_.data() + here_, header_bytes - here_};
        if (const std::size_t from = std::max(here_, header_bytes); from < end) {
            const std::size_t most = std::min(chunk, end - from);
            parts[n++] = {payload_in_.data() + (from - header_bytes), most};
            if (from + most < end) return read(parts, n, false);
        }
        const std::size_t of_seal = here_ > end ? here_ - end : 0;
        parts[n++] = {in_seal_.data() + of_seal, seal_bytes - of_seal};
        return read(parts, n, true);
    }
    std::size_t buffered() const { return buffer_end_ - buffer_begin_; }
    /// Fills the parts from the buffer, or from the channel; then, where it is asked for,
    /// the buffer. There is place for one part more.
    transfer read(iovec* parts, int n, bool and_buffer) {
        std::size_t wanted = 0;
        if (buffered() > 0) {
            for (int i = 0; i < n && buffered() > 0; ++i) {
                const std::size_t taken = std::min(parts[i].iov_len, buffered());
                std::memcpy(parts[i].iov_base, buffer_.data() + buffer_begin_, taken);
                buffer_begin_ += taken;
                wanted += taken;
            }
            return {transfer::some, wanted};
        }
        for (int i = 0; i < n; ++i) wanted += parts[i].iov_len;
        if (and_buffer && !buffer_.empty()) parts[n++] = {buffer_.data(), buffer_.size()};
        transfer t = channel_.read(parts, n);
        if (t.how != transfer::some || t.bytes <= wanted) return t;
        buffer_begin_ = 0;
        buffer_end_ = t.bytes - wanted;
        t.bytes = wanted;
        return t;
    }

    void check_header() {
        frame_header h;
        if (const header_fault f = decode(in_, opener_.seed(), h); f != header_fault::none)
            fail(to_text({"this peer sent ", describe(f)}), in_tag_);
        if (h.kind != frame_kind::data) fail("this peer sent a control message where data were due", in_tag_);
        if (h.number != received_)
            fail(to_text({"this peer sent frame ", h.number, " where frame ", received_,
                         " was due: repeated, lost or out of order"}), in_tag_);
        if (h.tag != in_tag_ || h.bytes != payload_in_.size())
            differ(h, in_tag_, payload_in_.size());
        opener_.begin(received_);
        opener_.update(in_);
    }

    [[noreturn]] SINTER_COLD void lost(const char* what, const transfer& how, const frame_tag& t) {
        throw lost_connection(peer_.rank, peer_.role, peer_.address, to_text({"operation ", t.operation}), t.step,
                              how.how == transfer::ended
                                  ? std::string("the connection was closed by this peer")
                                  : to_text({"the connection was lost (", what, ": ", channel_.fault(how), ")"}));
    }
    [[noreturn]] SINTER_COLD void fail(std::string cause, const frame_tag& t) {
        throw damaged_connection(peer_.rank, peer_.role, peer_.address, to_text({"operation ", t.operation}), t.step,
                                 std::move(cause));
    }
    [[noreturn]] SINTER_COLD void differ(const frame_header& h, const frame_tag& expected, std::size_t bytes) {
        throw cluster_error(peer_.rank, peer_.role, peer_.address, to_text({"operation ", expected.operation}),
                            expected.step,
                            to_text({"members called different operations: this peer sent ", describe_(h.tag, h.bytes),
                                    "; this process expected ", describe_(expected, bytes),
                                    why_ ? why_(h.tag, peer_.rank, expected, rank_) : std::string()}));
    }
    [[noreturn]] SINTER_COLD static void misuse(const char* what) { throw error(what, "data_link"); }
};

} // namespace sinter::wire
