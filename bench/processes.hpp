// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <sinter/base/error.hpp>

/// Benchmarks that start their members themselves.
namespace sinter::bench {

/// Addresses of the loopback device whose ports were free a moment ago.
inline std::vector<std::string> loopback_addresses(int n) {
    std::vector<std::string> all;
    std::vector<int> held;
    for (int i = 0; i < n; ++i) {
        const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof a;
        auto* const at = reinterpret_cast<sockaddr*>(&a);
        if (s < 0 || ::bind(s, at, size) != 0 || ::getsockname(s, at, &size) != 0)
            throw option_error("no free port", "loopback", std::to_string(i), std::to_string(n));
        held.push_back(s);
        all.push_back("127.0.0.1:" + std::to_string(ntohs(a.sin_port)));
    }
    for (const int s : held) ::close(s);
    return all;
}

/// f(rank) in another process, which ends with this one: its status is then 0, or 1 where f has
/// thrown.
template <class F>
pid_t start_process(int rank, F f) {
    const pid_t p = ::fork();
    if (p != 0) return p;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        f(rank);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
        ::_exit(1);
    }
    std::fflush(stdout);
    ::_exit(0);
}
/// f(rank) in n processes, which end with this one; the worst status of them.
template <class F>
int in_processes(int n, F f) {
    for (int r = 0; r < n; ++r) start_process(r, f);
    int worst = 0, status = 0;
    while (::wait(&status) > 0) worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    return worst;
}

} // namespace sinter::bench
