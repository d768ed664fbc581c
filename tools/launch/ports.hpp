// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/throw_io_error.hpp>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace launch {

/// A free port of the loopback address, kept for one member: as long as the reservation lives, the
/// system gives the port to nobody who asks for any port, while a member that asks for this one,
/// with SO_REUSEADDR, may listen there.
class reserved_port {
public:
    reserved_port() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const a = reinterpret_cast<sockaddr*>(&address);
        if (!socket_ || ::bind(socket_.get(), a, size) != 0 || ::getsockname(socket_.get(), a, &size) != 0)
            sinter::io::throw_io_error(errno, "no free port", "127.0.0.1");
        const int on = 1;   // only now: a reservation must not share a port that somebody else has bound so
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        number_ = ntohs(address.sin_port);
    }
    int number() const { return number_; }

private:
    sinter::io::descriptor socket_;
    int number_;
};

} // namespace launch
