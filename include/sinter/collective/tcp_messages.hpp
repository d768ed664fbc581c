// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <deque>
#include <sinter/base/os/blocked_signals.hpp>
#include <sinter/collective/mailbox.hpp>
#include <sinter/collective/net_membership.hpp>
#include <sys/eventfd.h>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Messages over a further connection of each pair, number 0, which is made when the first one is sent. Whatever comes
/// is read at once, by a thread that begins with the first message, and kept where nobody awaits it yet: so sends that
/// cross do not wait for each other. Beyond `most_unawaited` bytes of one member that nobody awaits nothing more is
/// read from it until one of them is, and its sends wait.
class tcp_messages final : public messages {
public:
    static constexpr std::int64_t most_unawaited = std::int64_t{256} << 20;

    explicit tcp_messages(std::shared_ptr<net_membership> m)
        : members_(std::move(m)), box_(members_), pairs_(static_cast<std::size_t>(members_->size())),
          wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!wake_) io::throw_io_error(errno, "cannot make an event", "eventfd");
        members_->group().on_change([this] { on_change(); });
    }
    ~tcp_messages() override {
        members_->group().on_change(nullptr);
        {
            const std::lock_guard hold(mutex_);
            stop_ = true;
        }
        wake();
        if (thread_.joinable()) thread_.join();
    }

    message send(const message_name& n, span<const std::byte> x) override {
        const message m = box_.begin_send(n, static_cast<std::int64_t>(x.size()));
        if (n.peer == members_->rank()) {
            box_.deliver(n, x);
            box_.sent(m);
            return m;
        }
        {
            const std::lock_guard hold(mutex_);
            pair& p = pairs_[static_cast<std::size_t>(n.peer)];
            p.out.push_back({m, n, x});
            if (!p.asked) members_->group().ask_further(n.peer, connection);
            p.asked = true;
        }
        begin();
        wake();
        return m;
    }
    message receive(const message_name& n, span<std::byte> into) override {
        const message m = box_.begin_receive(n, into);
        begin();
        wake();
        return m;
    }
    void wait(message m, double within) override { box_.wait(m, within); }

private:
    static constexpr std::uint32_t connection = 0;
    /// Marks frames of messages among all operations: no kind has this number.
    static constexpr std::uint32_t mark = 0xFFu << 24;
    static constexpr int frames_at_once = 16;   // of one member, before others are looked at

    struct outgoing {
        message number;
        message_name name;
        span<const std::byte> bytes;
        std::size_t gone = 0;
    };
    struct pair {
        std::deque<outgoing> out;   // under the mutex; only the thread takes from it
        bool asked = false;
        // Of the thread alone:
        wire::data_link* link = nullptr;
        mailbox::arrival* comes = nullptr;
        std::int64_t frame = 0;     // bytes of the frame that is being sent
        std::int64_t piece = 0;     // of the one that is being received
        bool sending = false, receiving = false, full = false, ended = false;
    };

    std::shared_ptr<net_membership> members_;
    mailbox box_;
    std::mutex mutex_;
    std::vector<pair> pairs_;   // by rank
    io::descriptor wake_;
    posix_thread thread_;
    bool stop_ = false;

    void begin() {
        const std::lock_guard hold(mutex_);
        if (thread_.joinable() || stop_ || members_->size() == 1) return;
        const base::blocked_signals none;
        thread_ = posix_thread([this] { serve(); });
    }
    void wake() { ::eventfd_write(wake_.get(), 1); }
    /// On the connections' thread: somebody sends, or has left.
    void on_change() {
        for (int r = 0; r < members_->size(); ++r)
            if (members_->group().further(r, connection)) begin();
        wake();
    }

    void serve() noexcept {
        try {
            while (true) {
                {
                    const std::lock_guard hold(mutex_);
                    if (stop_) return;
                }
                members_->check();
                bool again = false;
                if (!box_.work([&] { again = all_pairs(); })) return;
                if (!again) sleep();
            }
        } catch (const cluster_error& e) {
            members_->fail(e);
        } catch (const std::exception& e) {
            fail(e.what());
        }
        box_.end();
    }
    void fail(const char* cause) noexcept {
        try {
            const int r = members_->rank();
            members_->fail({r, members_->role(r), members_->address(r), "messages", -1, cause});
        } catch (...) {   // no memory for the text: the others will see this member go
        }
    }
    /// Until there is news, or a connection is ready.
    void sleep() {
        std::vector<pollfd> all{{wake_.get(), POLLIN, 0}, {members_->group().failed_descriptor(), POLLIN, 0}};
        for (pair& p : pairs_) {
            if (!p.link || p.ended) continue;
            if (!p.full && p.link->has_more()) return;   // decrypted already
            const short reads = p.full ? 0 : POLLIN;
            all.push_back({p.link->descriptor(), static_cast<short>(p.link->wants() | reads), 0});
        }
        if (io::uninterrupted([&] { return ::poll(all.data(), all.size(), -1); }) < 0)
            io::throw_io_error(errno, "cannot wait for messages", "poll");
        eventfd_t n;
        ::eventfd_read(wake_.get(), &n);
    }
    /// True: there may be more to do at once.
    bool all_pairs() {
        bool again = false;
        for (int r = 0; r < members_->size(); ++r) {
            pair& p = pairs_[static_cast<std::size_t>(r)];
            if (!p.link && !p.ended) take_link(r, p);
            if (p.link && !p.ended) try {
                    write_on(p);
                    again |= read_on(r, p);
                } catch (const wire::lost_connection&) {
                    if (p.comes || box_.has_open(r)) throw;   // else it has left, or the job knows why it ends
                    p.ended = true;
                }
        }
        box_.refuse_gone([&](int r) {
            const pair& p = pairs_[static_cast<std::size_t>(r)];
            return r != members_->rank() && (p.link ? p.ended : members_->group().is_gone(r));
        });
        return again;
    }
    void take_link(int r, pair& p) {
        if (r == members_->rank()) return;
        p.link = members_->group().further(r, connection);
        if (!p.link) return;
        p.link->describe_with([](const wire::frame_tag& t, std::uint64_t bytes) {
            return to_text({"a message with tag ", t.step, " of ", t.elements, " bytes, ", bytes, " of them at ",
                           t.offset});
        });
    }
    static wire::frame_tag tag_of(const message_name& n, std::size_t bytes, std::size_t offset) {
        wire::frame_tag t;
        t.operation = mark;
        t.dtype = static_cast<std::uint8_t>(element::u8);
        t.step = n.tag;
        t.bucket = static_cast<std::int32_t>(n.group);
        t.elements = bytes;
        t.offset = offset;
        return t;
    }
    void write_on(pair& p) {
        while (true) {
            outgoing* now = nullptr;
            {
                const std::lock_guard hold(mutex_);
                if (!p.out.empty()) now = &p.out.front();   // deques do not move what is in them
            }
            if (!now) return;
            if (!p.sending) {
                const std::size_t n = std::min(now->bytes.size() - now->gone, wire::data_link::max_payload());
                p.link->send(tag_of(now->name, now->bytes.size(), now->gone), now->bytes.subspan(now->gone, n));
                p.frame = static_cast<std::int64_t>(n);
                p.sending = true;
            }
            if (!p.link->flush()) return;
            p.sending = false;
            now->gone += static_cast<std::size_t>(p.frame);
            if (now->gone < now->bytes.size()) continue;
            const message done = now->number;
            {
                const std::lock_guard hold(mutex_);
                p.out.pop_front();
            }
            box_.sent(done);
        }
    }
    bool read_on(int r, pair& p) {
        p.full = false;
        for (int k = 0; k < frames_at_once; ++k) {
            if (!p.receiving && !begin_frame(r, p)) return false;
            if (!p.link->fill()) return false;
            p.receiving = false;
            if (box_.placed(*p.comes, p.piece)) p.comes = nullptr;
        }
        return true;
    }
    bool begin_frame(int r, pair& p) {
        const wire::frame_header* const h = p.link->next();
        if (!h) return false;
        const wire::frame_tag t = h->tag;
        const message_name n{static_cast<std::uint32_t>(t.bucket), r, t.step};
        const auto bytes = static_cast<std::int64_t>(t.elements), piece = static_cast<std::int64_t>(h->bytes);
        const std::int64_t here = p.comes ? p.comes->here : 0;
        if (t.operation != mark || bytes < 0 || static_cast<std::int64_t>(t.offset) != here || piece > bytes - here ||
            (piece == 0 && bytes > 0) || (p.comes && (p.comes->name != n || p.comes->bytes != bytes)))
            throw box_.about(n, false, "it sent what is no part of a message, or not the next");
        if (!box_.has_room(n, p.comes, piece, most_unawaited)) {
            p.full = true;
            return false;
        }
        if (!p.comes) p.comes = &box_.begin_arrival(n, bytes);
        p.piece = piece;
        p.link->receive(t, box_.place(*p.comes, piece));
        p.receiving = true;
        return true;
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
