// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <sinter/io/throw_io_error.hpp>

#include "job.hpp"

/// The limit that parameter servers are measured beside: one thread that polls, a table in one
/// array, and messages that have neither checks nor numbers.
namespace sinter::bench::plain_sockets {

struct head { std::int64_t pushed, pulled; };   // rows; of a vector: floats

/// Reads or writes all of it; waits in poll where the socket has nothing, or is full.
template <class Call>
void whole(int fd, char* at, std::size_t n, short event, Call call) {
    while (n > 0) {
        const ssize_t done = call(fd, at, n);
        if (done > 0) at += done, n -= static_cast<std::size_t>(done);
        else if (done == 0 || (errno != EAGAIN && errno != EINTR))
            throw device_error("connection lost", "socket", "", "");
        else {
            pollfd p{fd, event, 0};
            ::poll(&p, 1, -1);
        }
    }
}
inline void receive(int fd, void* at, std::size_t n) {
    whole(fd, static_cast<char*>(at), n, POLLIN, [](int s, char* p, std::size_t k) { return ::recv(s, p, k, 0); });
}
inline void send(int fd, const void* at, std::size_t n) {
    whole(fd, const_cast<char*>(static_cast<const char*>(at)), n, POLLOUT,
          [](int s, char* p, std::size_t k) { return ::send(s, p, k, MSG_NOSIGNAL); });
}

/// A server: it answers whoever has sent a whole message, until all have gone.
inline void serve(const server_job& j, int s, const std::vector<int>& sockets) {
    const auto width = static_cast<std::size_t>(j.dense() ? 1 : j.dim);
    std::vector<float> table(static_cast<std::size_t>(j.held_by(s)) * width);
    struct connection {
        int fd;
        std::vector<char> in, out;
        std::size_t have = 0, sent = 0;
    };
    std::vector<connection> all;
    for (const int fd : sockets) all.push_back({fd, std::vector<char>(sizeof(head)), {}});
    const auto size_of = [&](const head& h) {
        const auto a = static_cast<std::size_t>(h.pushed), b = static_cast<std::size_t>(h.pulled);
        return sizeof(head) + (j.dense() ? 4 * a : a * (4 + 4 * width) + 4 * b);
    };
    const auto work = [&](connection& c) {
        const head h = *reinterpret_cast<const head*>(c.in.data());
        const auto a = static_cast<std::size_t>(h.pushed), b = static_cast<std::size_t>(h.pulled);
        const char* at = c.in.data() + sizeof h;
        c.out.resize(b * 4 * width);
        auto* to = reinterpret_cast<float*>(c.out.data());
        if (j.dense()) {
            const auto* g = reinterpret_cast<const float*>(at);
            for (std::size_t i = 0; i < a; ++i) table[i] -= 0.01f * g[i];
            std::memcpy(to, table.data(), b * 4);
            return;
        }
        const auto* keys = reinterpret_cast<const std::int32_t*>(at);
        const auto* g = reinterpret_cast<const float*>(at + 4 * a);
        for (std::size_t r = 0; r < a; ++r)
            for (std::size_t i = 0; i < width; ++i)
                table[static_cast<std::size_t>(keys[r]) * width + i] -= 0.01f * g[r * width + i];
        const auto* wanted = reinterpret_cast<const std::int32_t*>(at + a * (4 + 4 * width));
        for (std::size_t r = 0; r < b; ++r)
            std::memcpy(to + r * width, table.data() + static_cast<std::size_t>(wanted[r]) * width, 4 * width);
    };
    std::vector<pollfd> waits;
    while (!all.empty()) {
        waits.clear();
        for (const connection& c : all)
            waits.push_back({c.fd, static_cast<short>(c.sent < c.out.size() ? POLLOUT : POLLIN), 0});
        ::poll(waits.data(), waits.size(), -1);
        for (std::size_t k = all.size(); k-- > 0;) {
            if (waits[k].revents == 0) continue;
            connection& c = all[k];
            bool gone = false;
            while (c.sent == c.out.size()) {   // reads a message, as far as it is there
                const ssize_t n = ::recv(c.fd, c.in.data() + c.have, c.in.size() - c.have, 0);
                if (n <= 0) {
                    gone = n == 0 || errno != EAGAIN;
                    break;
                }
                c.have += static_cast<std::size_t>(n);
                if (c.have >= sizeof(head)) c.in.resize(size_of(*reinterpret_cast<const head*>(c.in.data())));
                if (c.have < c.in.size()) continue;
                work(c);
                c.sent = c.have = 0;
                c.in.resize(sizeof(head));
            }
            while (c.sent < c.out.size()) {
                const ssize_t n = ::send(c.fd, c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
                if (n <= 0) break;
                c.sent += static_cast<std::size_t>(n);
            }
            if (!gone) continue;
            ::close(c.fd);
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
        }
    }
}

/// A worker's steps, until its time is up.
inline void work(const server_job& j, tally& t, int worker, const std::vector<int>& servers) {
    const auto width = static_cast<std::size_t>(j.dense() ? 1 : j.dim);
    const std::vector<step_rows> sets = j.dense() ? std::vector<step_rows>() : draw_rows(j, worker);
    std::vector<float> gradient(static_cast<std::size_t>(j.dense() ? j.dim : j.rows * j.dim), 1e-6f),
        got(gradient.size());
    std::vector<char> message;
    const auto append = [&](const void* p, std::size_t n) {
        message.insert(message.end(), static_cast<const char*>(p), static_cast<const char*>(p) + n);
    };
    time_worker(t, j, worker, [&](std::int64_t k) {
        for (int s = 0; s < j.servers; ++s) {
            const auto at = static_cast<std::size_t>(s);
            if (j.dense()) {
                const head h{j.held_by(s), j.held_by(s)};
                send(servers[at], &h, sizeof h);
                send(servers[at], gradient.data(), 4 * static_cast<std::size_t>(h.pushed));
                continue;
            }
            const auto& last = sets[static_cast<std::size_t>(k) % sets.size()][at];
            const auto& next = sets[static_cast<std::size_t>(k + 1) % sets.size()][at];
            const head h{static_cast<std::int64_t>(last.size()), static_cast<std::int64_t>(next.size())};
            message.clear();
            append(&h, sizeof h);
            append(last.data(), 4 * last.size());
            append(gradient.data(), 4 * width * last.size());
            append(next.data(), 4 * next.size());
            send(servers[at], message.data(), message.size());
        }
        std::size_t first = 0;
        for (int s = 0; s < j.servers; ++s) {
            const step_rows& next = sets[static_cast<std::size_t>(k + 1) % sets.size()];
            const auto n = width * (j.dense() ? static_cast<std::size_t>(j.held_by(s))
                                              : next[static_cast<std::size_t>(s)].size());
            receive(servers[static_cast<std::size_t>(s)], got.data() + first, 4 * n);
            first += n;
        }
    }, [] {});
    for (const int fd : servers) ::shutdown(fd, SHUT_RDWR);   // also where another process has it open
}

} // namespace sinter::bench::plain_sockets
