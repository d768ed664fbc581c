// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sinter/io/throw_io_error.hpp>

/// The limits that collectives are measured beside: plain sockets of the loopback device, without
/// frames, checks or a library.
namespace sinter::bench {

/// Connected sockets of the loopback device: [0] of one member, [1] of the other.
inline std::pair<int, int> connected_sockets() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0), a = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t n = sizeof at;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&at), n) || ::listen(listener, 1) ||
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &n) ||
        ::connect(a, reinterpret_cast<sockaddr*>(&at), n))
        io::throw_io_error(errno, "cannot connect", "loopback");
    const int b = ::accept(listener, nullptr, nullptr), one = 1;
    ::close(listener);
    for (const int fd : {a, b}) {
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        ::fcntl(fd, F_SETFL, O_NONBLOCK);
    }
    return {a, b};
}

/// A member of a ring of sockets.
struct raw_ring {
    int rank, size, next, before;

    /// Sends and receives at once; `got(bytes so far)` after each read.
    template <class Got>
    void exchange(const char* out, std::size_t sends, char* in, std::size_t receives, Got got, std::size_t wrap = 0) {
        std::size_t sent = 0, here = 0;
        const auto at = [&](std::size_t k) { return wrap ? k % wrap : k; };
        const auto most = [&](std::size_t k, std::size_t end) {
            return wrap ? std::min(end - k, wrap - k % wrap) : end - k;
        };
        while (sent < sends || here < receives) {
            bool moved = false;
            if (sent < sends)
                if (const auto n = ::send(next, out + at(sent), most(sent, sends), MSG_NOSIGNAL); n > 0)
                    sent += static_cast<std::size_t>(n), moved = true;
            if (here < receives)
                if (const auto n =
                        ::recv(before, in + at(here), std::min<std::size_t>(most(here, receives), 262144), 0);
                    n > 0)
                    here += static_cast<std::size_t>(n), got(here), moved = true;
            if (moved) continue;
            pollfd p[2] = {{before, static_cast<short>(here < receives ? POLLIN : 0), 0},
                           {next, static_cast<short>(sent < sends ? POLLOUT : 0), 0}};
            ::poll(p, 2, -1);
        }
    }
    /// A sum over all members: the least that a ring can do.
    void all_reduce(float* x, std::int64_t n, float* scratch) {
        const auto first = [&](int c) { return n * ((c % size + size) % size) / size; };
        const auto end = [&](int c) { return n * ((c % size + size) % size + 1) / size; };
        for (int k = 0; k < 2 * (size - 1); ++k) {
            const int out = rank - 1 - k, in = rank - 2 - k;
            float* const to = x + first(in);
            const bool adds = k < size - 1;
            std::size_t added = 0;
            exchange(reinterpret_cast<const char*>(x + first(out)), static_cast<std::size_t>(end(out) - first(out)) * 4,
                     reinterpret_cast<char*>(adds ? scratch : to), static_cast<std::size_t>(end(in) - first(in)) * 4,
                     [&](std::size_t bytes) {
                         if (adds)
                             for (; added < bytes / 4; ++added) to[added] += scratch[added];
                     });
        }
    }
    /// The same number of bytes from memory that stays in the caches, and nothing done with them.
    void flood(std::int64_t bytes, char* hot) {
        const auto n = static_cast<std::size_t>(2 * (size - 1) * bytes / size);
        exchange(
            hot, n, hot + 262144, n, [](std::size_t) {}, 262144);
    }
    void from_rank_0(std::int64_t& v) {
        std::int64_t got = v;
        if (rank == 0) exchange(reinterpret_cast<char*>(&v), 8, reinterpret_cast<char*>(&got), 8, [](std::size_t) {});
        else
            exchange(nullptr, 0, reinterpret_cast<char*>(&v), 8, [](std::size_t) {}),
                exchange(reinterpret_cast<char*>(&v), 8, nullptr, 0, [](std::size_t) {});
    }
    /// Of two members that never sleep: 8 bytes there and back.
    void ping() {
        char c[8] = {};
        const auto all = [&](auto f) {
            for (ssize_t done = 0; done < 8;)
                if (const auto n = f(c + done, static_cast<std::size_t>(8 - done)); n > 0) done += n;
        };
        const auto give = [&] { all([&](char* p, std::size_t n) { return ::send(next, p, n, MSG_NOSIGNAL); }); };
        const auto take = [&] { all([&](char* p, std::size_t n) { return ::recv(before, p, n, 0); }); };
        if (rank == 0) give(), take();
        else take(), give();
    }
};

}   // namespace sinter::bench
