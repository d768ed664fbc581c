// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <functional>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/patience.hpp>
#include <sinter/collective/element.hpp>
#include <sinter/collective/transport.hpp>
#include <sinter/net/data_link.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// What a frame must agree in: number, kind, type, reduction, step, bucket, root and elements. The
/// root lies in what a broadcast has no other use for.
inline wire::frame_tag tag_of(const job& j, std::int64_t offset) {
    const operation& o = j.what;
    const auto root = o.what == kind::broadcast ? static_cast<unsigned>(o.root) : 0u;
    wire::frame_tag t;
    t.operation = static_cast<std::uint32_t>(o.what) << 24 | (static_cast<std::uint32_t>(j.number) & 0xFFFFFFu);
    t.dtype = static_cast<std::uint8_t>(static_cast<unsigned>(o.type) | root >> 8 << 3);
    t.reduction = static_cast<std::uint8_t>(o.what == kind::broadcast ? root : static_cast<unsigned>(o.how));
    t.step = o.compared_step();
    t.bucket = o.bucket;
    t.elements = static_cast<std::uint64_t>(j.n);
    t.offset = static_cast<std::uint64_t>(offset);
    return t;
}
SINTER_COLD inline operation operation_of(const wire::frame_tag& t) {
    operation o{.what = static_cast<kind>(t.operation >> 24),
                .type = static_cast<element>(t.dtype & 7u),
                .step = t.step,
                .bucket = t.bucket};
    if (o.what == kind::broadcast) o.root = t.reduction | t.dtype >> 3 << 8;
    else o.how = static_cast<reduction>(t.reduction);
    return o;
}
/// The same in words, for errors.
SINTER_COLD inline std::string tag_text(const wire::frame_tag& t, std::uint64_t bytes) {
    const operation o = operation_of(t);
    return text_of(o, static_cast<std::int64_t>(t.elements)) + " (operation " +
           std::to_string(t.operation & 0xFFFFFFu) + ", " + std::to_string(bytes) + " bytes at " +
           std::to_string(t.offset) + ")";
}

/// Pieces as frames over one connection to each other member. Waits in poll(), together with what
/// becomes readable at the first error of the job.
class tcp_transport final : public transport {
public:
    /// `links`: by rank, null for this one. `failed`: becomes readable when `check` throws. `job_rank`: of this member
    /// in the whole job; -1: the same.
    tcp_transport(int rank, std::vector<wire::data_link*> links, int failed, std::function<void()> check, bool may_spin,
                  int job_rank = -1)
        : links_(std::move(links)), check_(std::move(check)), rank_(rank), failed_(failed), may_spin_(may_spin) {
        for (wire::data_link* const l : links_)
            if (l)
                l->describe_with(tag_text,
                                 [](const wire::frame_tag& theirs, int peer, const wire::frame_tag& own, int self) {
                                     return why_other(peer, operation_of(theirs), self, operation_of(own));
                                 }, job_rank < 0 ? rank : job_rank);
    }

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(links_.size()); }
    std::int64_t largest_piece() const override { return static_cast<std::int64_t>(wire::data_link::max_payload()); }

    void send(int peer, const job& j, std::int64_t offset, span<const std::byte> bytes) override {
        idle_since_ = 0;
        link(peer).send(tag_of(j, offset), bytes);
    }
    bool sent(int peer) override { return link(peer).flush(); }
    void receive(int peer, const job& j, std::int64_t offset, span<std::byte> bytes) override {
        idle_since_ = 0;
        now_ = tag_of(j, offset);
        link(peer).receive(now_, bytes);
    }
    bool received(int peer) override { return link(peer).fill(); }

    void wait(int to, int from) override {
        if (may_spin_ && spins()) return;
        pollfd all[3] = {{failed_, POLLIN, 0}, {}, {}};
        nfds_t n = 1;
        for (const int peer : {to, to == from ? -1 : from}) {
            if (peer < 0) continue;
            if (link(peer).has_more()) return;   // decrypted already
            all[n++] = {link(peer).descriptor(), link(peer).wants(), 0};
        }
        const int ready = io::uninterrupted([&] { return ::poll(all, n, stalled_after_ms); });
        if (ready < 0) io::throw_io_error(errno, "cannot wait for members", "poll");
        if (all[0].revents) check_();
        if (ready == 0) look_at_all();
        idle_since_ = 0;
    }

private:
    static constexpr int stalled_after_ms = 100;
    static constexpr double spin_seconds = 50e-6;

    std::vector<wire::data_link*> links_;
    std::function<void()> check_;
    wire::frame_tag now_;
    double idle_since_ = 0;   // 0: something has just happened
    int rank_, failed_;
    bool may_spin_;

    wire::data_link& link(int peer) { return *links_[static_cast<std::size_t>(peer)]; }
    bool spins() {
        const double now = monotonic_seconds();
        if (idle_since_ == 0) idle_since_ = now;
        if (now - idle_since_ > spin_seconds) return false;
        relax();
        return true;
    }
    /// Somebody may have sent something else than what is awaited of somebody else.
    SINTER_COLD void look_at_all() {
        for (wire::data_link* const l : links_) {
            const wire::frame_tag* const t = l ? l->peek() : nullptr;
            if (!t || (t->operation ^ now_.operation) & 0xFFFFFFu) continue;
            wire::frame_tag same = *t;
            same.offset = now_.offset;
            if (same != now_) l->refuse(now_);
        }
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
