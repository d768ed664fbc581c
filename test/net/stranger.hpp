// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/endpoint.hpp>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

/// Connections by hand, of those who are not of a job.
namespace sinter {

/// A connection to that address, once somebody listens there.
inline io::descriptor connected(const std::string& at) {
    const wire::endpoint e = wire::resolve(wire::parse_address(at, "test")).endpoints.at(0);
    io::descriptor s(::socket(e.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    for (int i = 0; i < 3000; ++i) {   // until the member listens
        if (::connect(s.get(), e.address(), e.size) == 0) return s;
        ::usleep(10000);
    }
    io::throw_io_error(errno, "cannot connect", at);
}
/// Whether the other end closes within so many seconds, whatever it says before.
inline bool is_closed(int socket, double within) {
    const double until = base::monotonic_seconds() + within;
    char buffer[1000];
    while (base::monotonic_seconds() < until) {
        pollfd p{socket, POLLIN, 0};
        if (::poll(&p, 1, 50) > 0 && ::read(socket, buffer, sizeof buffer) <= 0) return true;
    }
    return false;
}

} // namespace sinter
