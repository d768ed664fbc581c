// SPDX-License-Identifier: BSL-1.0
#include "job.hpp"
#include <arpa/inet.h>
#include <cstdio>
#include <netinet/in.h>
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
    std::thread server([&] { serve(addresses); });
    const float weight = work(addresses);
    server.join();
    std::printf("a weight of 1 was pushed to %g\n", static_cast<double>(weight));
    return weight == 0.75f ? 0 : 1;
}
