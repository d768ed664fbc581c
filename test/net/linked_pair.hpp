// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/data_link.hpp>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <utility>

/// Two ends of a connection within one process, with keys that the tests give.
namespace sinter::linked {

inline wire::direction_key key(bool secret, int direction) {
    wire::direction_key k;
    k.secret = secret;
    for (std::size_t i = 0; i < k.key.size(); ++i)
        k.key[i] = static_cast<std::byte>(17 * direction + static_cast<int>(i));
    k.connection = {std::byte{1}, std::byte{2}, std::byte{3}, static_cast<std::byte>(direction)};
    k.seed = 0x123456789abcdef0u + static_cast<std::uint64_t>(direction);
    return k;
}

/// Two connected TCP sockets of the loopback device.
inline std::pair<io::descriptor, io::descriptor> sockets() {
    io::descriptor listener(::socket(AF_INET, SOCK_STREAM, 0)), a(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t n = sizeof at;
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), n) || ::listen(listener.get(), 1) ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &n) ||
        ::connect(a.get(), reinterpret_cast<sockaddr*>(&at), n))
        io::throw_io_error(errno, "cannot connect", "loopback");
    io::descriptor b(::accept(listener.get(), nullptr, nullptr));
    const int one = 1;
    for (const int fd : {a.get(), b.get()}) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return {std::move(a), std::move(b)};
}

/// One end: rank 0 sends in direction 0, rank 1 in direction 1.
inline wire::data_link end(io::descriptor socket, bool secret, int rank) {
    return wire::data_link(wire::channel(std::move(socket)), key(secret, rank), key(secret, 1 - rank),
                          {1 - rank, rank == 0 ? "worker/1" : "worker/0", rank == 0 ? "b:2" : "a:1"});
}

struct pair {
    wire::data_link a, b;
};
inline pair both(bool secret) {
    auto [a, b] = sockets();
    return {end(std::move(a), secret, 0), end(std::move(b), secret, 1)};
}

} // namespace sinter::linked
