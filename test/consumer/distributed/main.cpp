// SPDX-License-Identifier: BSL-1.0
#include "member.hpp"
#include <arpa/inet.h>
#include <cstdio>
#include <netinet/in.h>
#include <sinter/net/from_environment.hpp>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

static std::string free_address() {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    const int s = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::bind(s, reinterpret_cast<sockaddr*>(&a), size) != 0) return "";
    ::getsockname(s, reinterpret_cast<sockaddr*>(&a), &size);
    ::close(s);
    return "127.0.0.1:" + std::to_string(ntohs(a.sin_port));
}

int main() {
    const std::vector<std::string> addresses{free_address(), free_address()};
    float sums[2] = {1, 2};
    std::thread other([&] { sums[1] = sum_of_all(addresses, 1, sums[1]); });
    sums[0] = sum_of_all(addresses, 0, sums[0]);
    other.join();
    std::printf("%d member alone; sums %g and %g\n", sinter::cluster::from_environment().size(),
                static_cast<double>(sums[0]), static_cast<double>(sums[1]));
}
