// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/data_link.hpp>
#include <sinter/parameter_server/brief_looks.hpp>
#include <sinter/parameter_server/protocol.hpp>
#include <atomic>
#include <mutex>
#include <poll.h>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Frames to and from one worker, for the thread that serves it: each call waits for what it says.
/// While nothing comes it looks a few times, and then polls.
class blocking_link {
public:
    blocking_link(wire::data_link link, std::atomic<double>& last_received)
        : link_(std::move(link)), last_received_(last_received) {
        link_.read_ahead(most_short);
    }

    int descriptor() const { return link_.descriptor(); }
    wire::data_link& link() { return link_; }
    const wire::peer_name& peer() const { return link_.peer(); }
    std::int64_t bytes_in = 0, bytes_out = 0;

    /// The header of the next frame.
    wire::frame_header next() {
        listen();
        if (!link_.has_more()) flush();   // answers to what has come together leave together
        const wire::frame_header* h = nullptr;
        wait(POLLIN, [&] { return (h = link_.next()) != nullptr; });
        bytes_in += static_cast<std::int64_t>(h->bytes);
        return *h;
    }
    /// The payload of the frame whose header next() has returned.
    void receive(const wire::frame_header& h, void* to) {
        listen();
        link_.receive(h.tag, {static_cast<std::byte*>(to), static_cast<std::size_t>(h.bytes)});
        wait(POLLIN, [&] { return link_.fill(); });
    }
    void send(const wire::frame_tag& t, span<const std::byte> bytes) {
        listen();
        bytes_out += static_cast<std::int64_t>(bytes.size());
        link_.send(t, bytes);
        flush();
    }
    /// The same, but a short frame leaves with the next one, or at the next flush(): waiting for
    /// the worker is one.
    void send_later(const wire::frame_tag& t, span<const std::byte> bytes) {
        if (bytes.size() > most_short) return send(t, bytes);
        listen();
        bytes_out += static_cast<std::int64_t>(bytes.size());
        link_.send_later(t, bytes);
        if (link_.waiting() >= most_batched) flush();
    }
    void flush() {
        listen();
        wait(POLLOUT, [&] { return link_.flush(); });
    }
    /// Frames whose operation is `what`, a word or what a leader says to its follower.
    void send_floats(std::uint32_t what, int array, const float* from, std::int64_t n, std::int64_t first = 0) {
        for (std::int64_t at = 0; at < n; at += floats_of_frame) {
            const std::int64_t part = std::min(floats_of_frame, n - at);
            wire::frame_tag t;
            t.operation = what;
            t.bucket = array;
            t.elements = static_cast<std::uint64_t>(part);
            t.offset = static_cast<std::uint64_t>(first + at);
            send(t, {reinterpret_cast<const std::byte*>(from + at), static_cast<std::size_t>(part) * 4});
        }
    }
    /// This thread computes for the worker, and does not listen: nobody is to say that the worker is
    /// dead, and another thread may send it signs of life.
    void work_begins() {
        if (works()) return;
        last_sent_ = last_received_.exchange(1e300);
        mine_.unlock();
    }
    void work_ends() {
        if (works()) mine_.lock();
        last_received_.store(base::monotonic_seconds());
    }
    bool works() const { return !mine_.owns_lock(); }
    /// For another thread, now and then: where this one is at work for longer than so many seconds,
    /// the worker is sent a sign of life: its answer will come.
    void send_wait_for_thread(double every) {
        const std::unique_lock theirs(link_mutex_, std::try_to_lock);
        const double now = base::monotonic_seconds();
        if (!theirs || last_received_.load() < 1e200 || now - last_sent_ < every) return;
        last_sent_ = now;
        try {
            if (link_.waiting() == 0) link_.send_later(wait_frame(), {});
            link_.flush();
        } catch (const error&) {   // who works sees it, too
        }
    }
    /// Tells the worker that its answer will come, and looks whether it lives. For threads that
    /// wait for something else than this connection. Where a request waits here that is not to be
    /// read yet, what it sends after that cannot be read: it is not silent.
    void send_wait() {
        send(wait_frame(), {});
        while (const wire::frame_header* h = link_.next()) {
            if (static_cast<frame_type>(h->tag.operation) != frame_type::heartbeat || h->bytes != 0) return work_ends();
            const wire::frame_header beat = *h;
            receive(beat, nullptr);
        }
    }

private:
    wire::data_link link_;
    std::atomic<double>& last_received_;
    brief_looks brief_;
    std::mutex link_mutex_;   ///< this thread's while it is not at work
    std::unique_lock<std::mutex> mine_{link_mutex_};
    double last_sent_ = 0;    ///< when the worker was last sent anything, or later

    static wire::frame_tag wait_frame() {
        wire::frame_tag t;
        t.operation = static_cast<std::uint32_t>(frame_type::wait);
        return t;
    }
    void listen() {
        if (works()) work_ends();
    }

    template <class Done>
    void wait(short events, Done done) {
        for (int i = 0; !done(); ++i) {
            if (brief_.again(i)) continue;
            if (events == POLLIN) {
                if (link_.has_more()) continue;
                link_.flush();   // the rest of a request may be long in coming
            }
            pollfd p{link_.descriptor(), static_cast<short>(events | link_.wants()), 0};
            ::poll(&p, 1, -1);
            if ((p.revents & (POLLIN | POLLOUT)) != 0)
                last_received_.store(base::monotonic_seconds(), std::memory_order_relaxed);
        }
        if (events == POLLIN) last_received_.store(base::monotonic_seconds(), std::memory_order_relaxed);
    }
};

} // namespace sinter::parameter_servers
