// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/parameter_server/copy_protocol.hpp>
#include <sinter/parameter_server/staged_push.hpp>
#include <cerrno>
#include <deque>
#include <sys/eventfd.h>
#include <unistd.h>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What a leader has still to send its follower, in order, and how much of it the follower has.
/// Under the server's mutex; no sockets here, but a descriptor that can be read when there is
/// something to send.
class copy_stream {
public:
    struct record {
        wire::frame_tag tag;
        std::vector<std::byte> bytes;
    };
    copy_stream() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (wake_ < 0) throw error("no descriptor for a copy's stream", "parameter_servers::server");
    }
    ~copy_stream() { ::close(wake_); }
    copy_stream(const copy_stream&) = delete;
    copy_stream& operator=(const copy_stream&) = delete;

    std::uint64_t added() const { return added_; }
    bool has(std::uint64_t n) const { return taken_ >= n; }
    /// False: it cannot have taken so many.
    bool take(std::uint64_t n) {
        if (n < taken_ || n > added_) return false;
        taken_ = n;
        return true;
    }
    int wake() const { return wake_; }
    bool next(record& to) {
        std::uint64_t n = 0;
        [[maybe_unused]] const auto done = ::read(wake_, &n, sizeof n);
        if (queue_.empty()) return false;
        to = std::move(queue_.front());
        queue_.pop_front();
        return true;
    }

    void add(std::uint32_t what, wire::frame_tag t = {}, span<const std::byte> bytes = {}) {
        add(what, t, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    void add(std::uint32_t what, wire::frame_tag t, std::vector<std::byte>&& bytes) {
        t.operation = what;
        queue_.push_back({t, std::move(bytes)});
        ++added_;
        if (queue_.size() > 1) return;   // whoever sends has not come to the end of the queue
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto done = ::write(wake_, &one, sizeof one);
    }
    void add_floats(std::uint32_t what, int bucket, std::int64_t first, span<const float> x) {
        for (std::size_t at = 0; at < x.size(); at += floats_of_frame) {
            const auto part = x.subspan(at, std::min<std::size_t>(floats_of_frame, x.size() - at));
            wire::frame_tag t;
            t.bucket = bucket;
            t.elements = part.size();
            t.offset = static_cast<std::uint64_t>(first) + at;
            add(what, t, as_bytes(part));
        }
    }
    /// A worker's push, whole; of one that is late what the log has to know.
    void add_push(int w, std::uint64_t incarnation, const commit_block& b, staged_push& p, const shard_layout& l,
                  copied_push what = copied_push::taken) {
        if (what != copied_push::late) add_gradients(w, p, l);
        std::byte bytes[commit_block::bytes];
        b.encode(bytes);
        wire::frame_tag t;
        t.bucket = w;
        t.step = static_cast<std::int64_t>(incarnation);
        t.elements = static_cast<std::uint64_t>(what);
        add(copied::commit, t, bytes);
    }
    void add_gradients(int w, staged_push& p, const shard_layout& l) {
        const auto add_dense = [&](std::int64_t first, std::int64_t n) {
            add_floats(copied::gradient, w, first, {p.dense() + first, static_cast<std::size_t>(n)});
        };
        if (p.has_dense() && l.updated(p.info.phase) == l.updated()) add_dense(0, l.updated());
        else if (p.has_dense())
            for (const run& r : l.runs)
                if (r.group >= 0 && r.phase == p.info.phase) add_dense(r.first, r.floats);
        if (p.has_states()) add_states(w, {p.states(), static_cast<std::size_t>(l.states)});
        for (std::size_t t = 0; t < p.tables().size(); ++t) add_rows(w, static_cast<int>(t), p.tables()[t]);
    }
    /// Whatever is no value; nothing where the follower has the same already.
    void add_state(const std::string& s) {
        if (s == state_) return;
        state_ = s;
        add(copied::state, {}, as_bytes(s));
    }

private:
    int wake_;
    std::deque<record> queue_;
    std::uint64_t added_ = 0, taken_ = 0;
    std::string state_;

    void add_section(int w, const section& s, span<const std::int64_t> keys, span<const float> floats) {
        std::vector<std::byte> bytes(section::header + 8 * keys.size() + 4 * floats.size());
        s.encode(bytes.data());
        std::byte* const to = bytes.data() + section::header;
        for (std::size_t k = 0; k < keys.size(); ++k) wire::detail::put(to + 8 * k, keys[k]);
        std::memcpy(to + 8 * keys.size(), floats.data(), 4 * floats.size());
        wire::frame_tag t;
        t.bucket = w;
        add(copied::sections, t, std::move(bytes));
    }
    void add_states(int w, span<const float> x) {
        constexpr std::size_t most = (most_frame - section::header) / 4;
        for (std::size_t at = 0; at < x.size(); at += most) {
            const auto part = x.subspan(at, std::min(most, x.size() - at));
            add_section(w, {section::states, 0, static_cast<std::int64_t>(at), static_cast<std::int64_t>(part.size())},
                        {}, part);
        }
    }
    void add_rows(int w, int table, const staged_rows& r) {
        const auto width = static_cast<std::size_t>(r.row_floats);
        const std::size_t most = std::max<std::size_t>(1, (most_frame - section::header) / (8 + 4 * width));
        for (std::size_t at = 0; at < r.keys.size(); at += most) {
            const std::size_t n = std::min(most, r.keys.size() - at);
            add_section(w, {section::rows, table, 0, static_cast<std::int64_t>(n)},
                        span<const std::int64_t>(r.keys).subspan(at, n),
                        {r.row(static_cast<std::int64_t>(at)), n * width});
        }
    }
};

} // namespace sinter::parameter_servers
