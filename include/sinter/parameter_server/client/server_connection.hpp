// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/data_link.hpp>
#include <sinter/parameter_server/client/interface.hpp>
#include <sinter/parameter_server/protocol.hpp>
#include <linux/sockios.h>
#include <optional>
#include <sys/ioctl.h>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A request to one server, until it is answered. It may be asked again on another connection.
struct request {
    struct part {
        wire::frame_tag tag;
        span<const std::byte> bytes, tail;   // one after the other
        std::size_t size() const { return bytes.size() + tail.size(); }
    };
    ticket number = 0;
    const char* name = "";             // for errors
    std::vector<part> parts;           // its frames
    bool whole = false;                // no more parts come
    std::vector<std::vector<std::byte>> blocks;   // memory of frames of its own; each keeps its place
    std::size_t blocks_used = 0;
    float* values = nullptr;           // where floats of the answer go
    float* states = nullptr;
    std::int64_t floats = 0, states_floats = 0;   // how many
    bool pulls = false, commits = false, reads = false;

    void begin(ticket t, const char* what) {
        number = t;
        name = what;
        parts.clear();
        whole = pulls = commits = reads = false;
        blocks_used = 0;
        values = states = nullptr;
        floats = states_floats = 0;
    }
    std::vector<std::byte>& next_block() {
        if (blocks_used == blocks.size()) blocks.emplace_back();
        return blocks[blocks_used++];
    }
    void add(frame_type w, span<const std::byte> bytes, wire::frame_tag t = {}, span<const std::byte> tail = {}) {
        t.operation = static_cast<std::uint32_t>(w);
        parts.push_back({t, bytes, tail});
    }
};

/// Questions to one server and its answers, in order, over a connection that may be replaced.
/// Nothing waits here: send_available() and receive_available() do what can be done now.
class server_connection {
public:
    static constexpr std::size_t most = 16;   // requests that are not answered
    static constexpr std::int64_t never_read = INT64_MAX;

    std::int64_t bytes_in = 0, bytes_out = 0, global_step = 0, read_step = 0;
    std::string text;                         // of the last answer to a request
    std::string first_text;                   // of the answer to the first call on a connection
    answer_block last;
    std::int64_t version = 0, pulled = 0;     // of the server's values, as it answered last; of those pulled last
    std::int64_t oldest_read = never_read;    // the oldest of those read since client::begin_reading()
    bool refused = false;
    int damaged = 0;                          // connections one after the other, without an answer between them
    double last_received = 0, last_sent = 0;
    int shard = -1;                           // of two copies, which connections must say
    std::uint64_t incarnation = 0;            // of the server's process that was met last; 0: none was
    bool gave_values = false;                 // this worker has written there, or knows that there are values

    bool up() const { return link_.has_value(); }
    int descriptor() const { return link_->descriptor(); }
    short events() const { return static_cast<short>(POLLIN | (frame_out_ ? POLLOUT : 0)); }
    bool full() const { return count_ == most; }
    bool idle() const { return count_ == 0; }
    bool has_to_send() const { return frame_out_ || has_part(); }
    /// Whether the request of this number, and all before it, are answered.
    bool answered(ticket t) const { return count_ == 0 || requests_[first_].number > t; }
    /// Pushes among them.
    std::int64_t commits() const {
        std::int64_t n = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            const request& q = requests_[(first_ + i) % most];
            n += q.commits && q.whole;
        }
        return n;
    }
    /// Bytes of the answers that are due.
    std::int64_t awaits() const {
        std::int64_t n = 0;
        for (std::size_t i = 0; i < asked_; ++i) {
            const request& q = requests_[(first_ + i) % most];
            n += 4 * (q.floats + q.states_floats);
        }
        return n;
    }
    const char* oldest() const { return count_ == 0 ? "training" : requests_[first_].name; }

    request& ask(ticket t, const char* name) {
        request& q = requests_[(first_ + count_++) % most];
        q.begin(t, name);
        return q;
    }
    /// A new connection: all that is not answered is asked again.
    void connect(wire::data_link link) {
        link_.emplace(std::move(link));
        link_->read_ahead(most_short);
        frame_out_ = long_out_ = has_request_ = receiving_ = false;
        asked_ = part_ = 0;
        last_received = last_sent = base::monotonic_seconds();
        gone_ = sent_until_ = 0;
    }
    /// Makes the first call on a connection and waits for its answer: last, first_text, refused. The text of the last
    /// request's answer stays: who waits for several servers reads it later, while this connection was replaced.
    /// False: poll(descriptor, events) has answered that none came in time.
    template <class Call, class Poll>
    SINTER_COLD bool first_call(const Call& c, Poll poll) {
        const std::string bytes = encode(c);
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(frame_type::call);
        t.elements = static_cast<std::uint64_t>(Call::id);
        t.bucket = shard;
        link_->send(t, as_bytes(bytes));
        const auto ready = [&](short events, auto done) {
            while (!done()) {   // (Bytes that are here already may be half a record of TLS: poll() ends it, too.)
                const short now = link_->has_more() ? POLLOUT : 0;
                if (!poll(link_->descriptor(), static_cast<short>(events | link_->wants() | now))) return false;
            }
            return true;
        };
        if (!ready(POLLOUT, [&] { return link_->flush(); })) return false;
        for (;;) {
            const wire::frame_header* h = nullptr;
            if (!ready(POLLIN, [&] { return (h = link_->next()) != nullptr; })) return false;
            now_ = static_cast<frame_type>(h->tag.operation);
            if ((now_ != frame_type::answer && now_ != frame_type::wait) || (now_ == frame_type::wait && h->bytes != 0))
                fault("a message that was not asked for");
            size_ = static_cast<std::size_t>(h->bytes);
            link_->receive(h->tag, {scratch_.data(), size_});
            if (!ready(POLLIN, [&] { return link_->fill(); })) return false;
            if (now_ == frame_type::wait) continue;
            if (!last.decode({scratch_.data(), size_})) fault("an answer that makes no sense");
            first_text.assign(reinterpret_cast<const char*>(scratch_.data()) + answer_block::bytes,
                              size_ - answer_block::bytes);
            refused = (last.flags & answer_block::refused) != 0;
            last_received = base::monotonic_seconds();
            return true;
        }
    }
    void disconnect() { link_.reset(); }
    void forget_all() { count_ = 0, asked_ = part_ = 0; }

    /// Short frames leave together.
    void send_available() {
        for (;;) {
            const bool blocked = long_out_ || (frame_out_ && link_->waiting() >= most_batched);
            const bool more = has_part();
            if (frame_out_ && (blocked || !more)) {
                if (!link_->flush()) return;
                if (has_request_) sent_until_ = static_cast<std::int64_t>(link_->written());
                frame_out_ = long_out_ = has_request_ = false;
                last_sent = base::monotonic_seconds();
            }
            if (!more) return;
            request& q = next_request();
            if (part_ == q.parts.size()) {
                ++asked_;
                part_ = 0;
                continue;
            }
            const request::part& p = q.parts[part_++];
            bytes_out += static_cast<std::int64_t>(p.size());
            frame_out_ = has_request_ = true;
            long_out_ = p.size() > most_short || !p.tail.empty();
            if (long_out_) link_->send(p.tag, p.bytes, p.tail);
            else link_->send_later(p.tag, p.bytes);
        }
    }
    /// A sign of life, if nothing else is being sent.
    void send_heartbeat() {
        if (frame_out_) return;
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(frame_type::heartbeat);
        link_->send_later(t, {});
        frame_out_ = true;
        send_available();
    }
    /// Takes in what has come; calls done(request, answer_block) for each answer.
    template <class Done>
    void receive_available(Done done) {
        for (;;) {
            if (!receiving_ && !begin_to_receive()) return;
            if (!link_->fill()) return;
            receiving_ = false;
            last_received = base::monotonic_seconds();
            if (now_ != frame_type::answer) continue;
            request& q = requests_[first_];
            if (!last.decode({scratch_.data(), size_})) fault("an answer that makes no sense");
            if (count_ == 0 && ((last.flags & answer_block::refused) == 0 || last.inline_bytes > 0))
                fault("a message that was not asked for");
            const auto inline_here = span<const std::byte>(scratch_.data() + answer_block::bytes, last.inline_bytes);
            if (last.inline_bytes > 0) {
                if (static_cast<std::int64_t>(last.inline_bytes) != 4 * (q.floats + q.states_floats))
                    fault("more or fewer values than were asked for");
                if (q.floats > 0) std::memcpy(q.values, inline_here.data(), static_cast<std::size_t>(q.floats) * 4);
                if (q.states_floats > 0)
                    std::memcpy(q.states, inline_here.data() + q.floats * 4,
                                static_cast<std::size_t>(q.states_floats) * 4);
            }
            const std::size_t before = answer_block::bytes + last.inline_bytes;
            text.assign(reinterpret_cast<const char*>(scratch_.data()) + before, size_ - before);
            refused = (last.flags & answer_block::refused) != 0;
            if (refused) return;
            global_step = last.info.global_step;
            version = last.version;
            if (q.pulls) read_step = global_step, pulled = version;
            if (q.reads) oldest_read = std::min(oldest_read, version);
            if (asked_ == 0) fault("an answer to a request that was not asked yet");
            first_ = (first_ + 1) % most;
            --count_;
            --asked_;
            damaged = 0;
            done(q, last);
            if (count_ == 0 && !link_->has_more()) return;   // nothing more is due
        }
    }
    /// Whether nothing has gone either way for so long although an answer is due. Bytes of
    /// requests that the server's system acknowledges are a sign of life: a large one may take
    /// long. Heartbeats are none: the system of a server that was stopped takes them, too.
    bool is_silent(double now, double limit) {
        if (count_ == 0 || now - last_received < limit / 8) return false;
        if (int queued = 0; (has_request_ || gone_ < sent_until_) && now - looked_ >= limit / 8 &&
                            ::ioctl(link_->descriptor(), SIOCOUTQ, &queued) == 0) {
            looked_ = now;
            const auto gone = static_cast<std::int64_t>(link_->written()) - queued;
            if (gone > gone_) last_received = now;
            gone_ = gone;
        }
        return now - last_received >= limit;
    }
    void note_bytes() { last_received = base::monotonic_seconds(); }
    bool has_more() const { return link_->has_more(); }

private:
    std::optional<wire::data_link> link_;
    std::array<request, most> requests_;
    std::size_t first_ = 0, count_ = 0;       // requests that are not answered
    std::size_t asked_ = 0, part_ = 0;        // of them, and of the next one's parts, those that are gone
    bool frame_out_ = false, long_out_ = false, has_request_ = false, receiving_ = false;
    std::vector<std::byte> scratch_ = std::vector<std::byte>(most_frame);
    std::size_t size_ = 0;
    frame_type now_ = frame_type::answer;
    std::int64_t gone_ = 0;                   // bytes that the peer's system has acknowledged
    std::int64_t sent_until_ = 0;            // bytes written up to the end of the last request
    double looked_ = 0;                       // when they were counted last

    /// Whether a frame, or the end, of the next request is there.
    bool has_part() const {
        if (asked_ == count_) return false;
        const request& q = requests_[(first_ + asked_) % most];
        return q.whole || part_ < q.parts.size();
    }
    request& next_request() { return requests_[(first_ + asked_) % most]; }
    [[noreturn]] SINTER_COLD void fault(const char* what) {
        const wire::peer_name& p = link_->peer();
        throw cluster_error(p.rank, p.role, p.address, oldest(), global_step, std::string("this server sent ") + what);
    }
    bool begin_to_receive() {
        const wire::frame_header* const h = link_->next();
        if (!h) return false;
        now_ = static_cast<frame_type>(h->tag.operation);
        if (now_ == frame_type::wait && h->bytes == 0) {
            link_->receive(h->tag, {});
        } else if (now_ == frame_type::answer) {   // where nothing was asked, that the server has failed
            size_ = static_cast<std::size_t>(h->bytes);
            link_->receive(h->tag, {scratch_.data(), size_});
            bytes_in += static_cast<std::int64_t>(size_);
        } else if (now_ == frame_type::values && count_ > 0) {
            request& q = requests_[first_];
            const bool states = h->tag.bucket == states_array && q.states_floats > 0;
            const auto offset = static_cast<std::int64_t>(h->tag.offset);
            const auto n = static_cast<std::int64_t>(h->tag.elements);
            if (!within(offset, n, states ? q.states_floats : q.floats) || h->bytes != 4 * h->tag.elements)
                fault("values that were not asked for");
            float* const to = (states ? q.states : q.values) + offset;
            link_->receive(h->tag, {reinterpret_cast<std::byte*>(to), static_cast<std::size_t>(h->bytes)});
            bytes_in += static_cast<std::int64_t>(h->bytes);
        } else {
            fault("a message that was not asked for");
        }
        receiving_ = true;
        return true;
    }
};

} // namespace sinter::parameter_servers
