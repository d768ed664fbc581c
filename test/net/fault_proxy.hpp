// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/channel.hpp>
#include <sinter/net/endpoint.hpp>
#include <algorithm>
#include <deque>
#include <list>
#include <random>
#include <string>

/// A process between two members that forwards what they say, and does to it what networks and strangers do. The same
/// seed gives the same faults.
namespace sinter::fault_proxy {

struct faults {
    unsigned seed = 1;
    std::size_t most_chunk = 65536;    // bytes are handed on in pieces of 1 to so many
    double most_delay = 0;             // seconds that a piece waits, drawn for each; pieces keep their order
    int connection = -1;               // the faults below concern the n-th connection alone; -1: all
    bool upwards = true;               // in the direction from who dialled; or the other
    std::ptrdiff_t flip_at = -1;       // one bit of this byte of the direction is flipped
    std::ptrdiff_t first_ends_at = -1; // after so many bytes the first connection is closed, whatever concerns others
    std::ptrdiff_t cut_at = -1;        // after so many bytes both ends see the connection closed
    std::ptrdiff_t repeat_at = -1;     // the 80 bytes from here on are sent twice
    std::ptrdiff_t mute_at = -1;       // from here on nothing is handed on, and nobody is told
    std::ptrdiff_t half_close_at = -1; // from here on the direction ends, the other goes on
    std::string* record = nullptr;     // all bytes of the direction
};

class direction {
public:
    /// Forwards from `in` to `out`. Returns false once the connection is to be closed.
    bool go_on(wire::channel& in, wire::channel& out, const faults& f, bool faulty, std::mt19937& random) {
        std::byte buffer[4096];
        while (!ended_ && queue_.size() < 4096) {
            const std::size_t most = std::uniform_int_distribution<std::size_t>(1, f.most_chunk)(random);
            const iovec part{buffer, std::min(sizeof buffer, most)};
            const wire::transfer t = in.read(&part, 1);
            if (t.how == wire::transfer::must_wait) break;
            if (t.how != wire::transfer::some) {
                ended_ = true;
                break;
            }
            std::string piece(reinterpret_cast<const char*>(buffer), t.bytes);
            if (faulty && !spoil(piece, f)) return false;
            const double wait = f.most_delay * std::uniform_real_distribution<>()(random);
            release_ = std::max(release_, base::monotonic_seconds()) + wait;
            if (!piece.empty()) queue_.push_back({release_, std::move(piece)});
        }
        while (!queue_.empty() && queue_.front().at <= base::monotonic_seconds()) {
            std::string& piece = queue_.front().bytes;
            const iovec part{piece.data(), piece.size()};
            const wire::transfer t = out.write(&part, 1);
            if (t.how == wire::transfer::must_wait) return true;
            if (t.how != wire::transfer::some) {   // nobody reads it; the other direction goes on
                queue_.clear();
                ended_ = shut_ = true;
                break;
            }
            if (t.bytes < piece.size()) piece.erase(0, t.bytes);
            else queue_.pop_front();
        }
        if (ended_ && queue_.empty() && !shut_) {
            out.shut_down();
            shut_ = true;
        }
        return true;
    }
    bool over() const { return shut_; }

private:
    struct waiting { double at; std::string bytes; };
    std::deque<waiting> queue_;
    double release_ = 0;
    std::ptrdiff_t seen_ = 0;
    std::string tail_;
    bool ended_ = false, shut_ = false;

    bool spoil(std::string& piece, const faults& f) {
        const auto n = static_cast<std::ptrdiff_t>(piece.size());
        const auto here = [&](std::ptrdiff_t at) { return at >= seen_ && at < seen_ + n; };
        if (f.record) *f.record += piece;
        tail_ += piece;
        if (here(f.flip_at)) piece[static_cast<std::size_t>(f.flip_at - seen_)] ^= 4;
        if (f.repeat_at >= 0 && here(f.repeat_at + 79))
            piece.insert(static_cast<std::size_t>(f.repeat_at + 80 - seen_),
                         tail_.substr(static_cast<std::size_t>(f.repeat_at), 80));
        const std::ptrdiff_t end = seen_ + n;
        const auto keep_until = [&](std::ptrdiff_t at) {
            piece.resize(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at - seen_, 0, n)));
        };
        bool goes_on = true;
        if (f.mute_at >= 0 && end > f.mute_at) keep_until(f.mute_at);
        if (f.cut_at >= 0 && end > f.cut_at) goes_on = false;
        if (f.half_close_at >= 0 && end > f.half_close_at) keep_until(f.half_close_at), ended_ = true;
        seen_ = end;
        return goes_on;
    }
};

/// Listens at `at`, and connects each that comes to `to`, for as long as `going_on()` says so.
template <class GoingOn>
void run(const host_port& at, const host_port& to, const faults& f, GoingOn going_on) {
    std::mt19937 random(f.seed);
    const wire::endpoint here = wire::resolve(at).endpoints.at(0), there = wire::resolve(to).endpoints.at(0);
    io::descriptor listener = wire::stream_socket(here.storage.ss_family);
    const int one = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (::bind(listener.get(), here.address(), here.size) != 0 || ::listen(listener.get(), 100) != 0)
        io::throw_io_error(errno, "cannot listen", text_of(at));
    struct pair {
        wire::channel near, far;
        direction up, down;
        int number;
    };
    std::list<pair> pairs;
    faults first;
    first.cut_at = f.first_ends_at;
    for (int number = 0; going_on();) {
        std::vector<pollfd> waits{{listener.get(), POLLIN, 0}};
        for (const pair& p : pairs)
            for (const int fd : {p.near.descriptor(), p.far.descriptor()}) waits.push_back({fd, POLLIN, 0});
        ::poll(waits.data(), waits.size(), pairs.empty() ? 20 : 1);
        io::descriptor s(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (s) {
            io::descriptor onwards = wire::stream_socket(there.storage.ss_family);
            const int fault = ::connect(onwards.get(), there.address(), there.size) == 0 ? 0 : errno;
            pollfd wait{onwards.get(), POLLOUT, 0};
            if (fault == EINPROGRESS) ::poll(&wait, 1, 1000);
            int failed = 0;
            socklen_t n = sizeof failed;
            ::getsockopt(onwards.get(), SOL_SOCKET, SO_ERROR, &failed, &n);
            if (failed == 0)
                pairs.push_back({wire::channel(std::move(s)), wire::channel(std::move(onwards)), {}, {}, number++});
        }
        for (auto p = pairs.begin(); p != pairs.end();) {
            const bool ends = f.first_ends_at >= 0 && p->number == 0;
            const bool faulty = ends || f.connection < 0 || f.connection == p->number;
            const faults& of = ends ? first : f;
            const bool stays = p->up.go_on(p->near, p->far, of, faulty && of.upwards, random) &&
                               p->down.go_on(p->far, p->near, of, faulty && !of.upwards, random) &&
                               !(p->up.over() && p->down.over());
            p = stays ? std::next(p) : pairs.erase(p);
        }
    }
}

} // namespace sinter::fault_proxy
