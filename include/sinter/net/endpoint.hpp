// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/throw_io_error.hpp>
#include <sinter/net/address.hpp>
#include <arpa/inet.h>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <vector>

/// Addresses as the system knows them, and sockets at them.
namespace sinter::inline SINTER_ORDINARY::wire {

/// An address and port as the system calls take them.
struct endpoint {
    sockaddr_storage storage{};
    socklen_t size = sizeof(sockaddr_storage);

    sockaddr* address() { return reinterpret_cast<sockaddr*>(&storage); }
    const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&storage); }
    bool is_loopback() const {
        if (storage.ss_family == AF_INET)
            return ntohl(reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr.s_addr) >> 24 == 127;
        const in6_addr& a = reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr;
        return storage.ss_family == AF_INET6 &&
               (IN6_IS_ADDR_LOOPBACK(&a) || (IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr[12] == 127));
    }
    std::uint16_t port() const {
        return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                                                   : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
    }
    void set_port(std::uint16_t p) {
        if (storage.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(p);
        else reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(p);
    }
    /// In digits.
    host_port digits() const {
        char host[NI_MAXHOST] = "?";
        ::getnameinfo(address(), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
        return {host, port()};
    }
    static endpoint local(int socket) {
        endpoint e;
        if (::getsockname(socket, e.address(), &e.size) != 0)
            io::throw_io_error(errno, "cannot tell a socket's address", "getsockname");
        return e;
    }
};

struct resolution {
    std::vector<endpoint> endpoints;
    std::string fault;   // in the system's words; empty if there is an address
};

/// All addresses of a host's name or number. It may wait for a name server, but not where only
/// `digits` are taken.
SINTER_COLD inline resolution resolve(const host_port& at, bool digits = false) {
    addrinfo hints{}, *list = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (digits ? AI_NUMERICHOST : 0);
    resolution r;
    const std::string port = std::to_string(at.port);
    if (const int fault = ::getaddrinfo(at.host.c_str(), port.c_str(), &hints, &list); fault != 0) {
        r.fault = fault == EAI_SYSTEM ? std::generic_category().message(errno) : std::string(::gai_strerror(fault));
        return r;
    }
    for (const addrinfo* a = list; a; a = a->ai_next) {
        if (a->ai_addrlen > sizeof(sockaddr_storage)) continue;
        endpoint e;
        std::memcpy(&e.storage, a->ai_addr, a->ai_addrlen);
        e.size = a->ai_addrlen;
        r.endpoints.push_back(e);
    }
    ::freeaddrinfo(list);
    if (r.endpoints.empty()) r.fault = "the name has no address";
    return r;
}

/// A socket for connections that does not block and is not handed on to programs that are started.
SINTER_COLD inline io::descriptor stream_socket(int family) {
    io::descriptor s(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (s) {
        const int one = 1;
        ::setsockopt(s.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    return s;
}

} // namespace sinter::wire
