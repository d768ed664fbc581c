// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace sinter {

/// Two network namespaces with a cable between them, as two machines have: it can be pulled out, and made slow. Only
/// root can make them; made() says whether it was possible.
class two_hosts {
public:
    two_hosts() : id_(std::to_string(::getpid())) {
        made_ = ::geteuid() == 0;
        for (const char* side : {"a", "b"}) made_ = made_ && run("ip netns add " + name(side));
        made_ = made_ && run("ip link add " + cable("a") + " netns " + name("a") + " type veth peer name " +
                             cable("b") + " netns " + name("b"));
        for (const char* side : {"a", "b"})
            made_ = made_ && in(side, "ip addr add " + address(*side - 'a') + "/24 dev " + cable(side)) &&
                    in(side, "ip link set " + cable(side) + " up") && in(side, "ip link set lo up");
    }
    two_hosts(const two_hosts&) = delete;
    two_hosts& operator=(const two_hosts&) = delete;
    ~two_hosts() {
        for (const char* side : {"a", "b"}) run("ip netns del " + name(side));
    }
    bool made() const { return made_; }
    static std::string address(int host) { return host == 0 ? "10.93.7.1" : "10.93.7.2"; }
    /// This process is on that host from now on.
    bool enter(int host) const {
        const int fd = ::open(("/run/netns/" + name(host == 0 ? "a" : "b")).c_str(), O_RDONLY | O_CLOEXEC);
        const bool there = fd >= 0 && ::setns(fd, CLONE_NEWNET) == 0;
        ::close(fd);
        return there;
    }
    /// Pulls the cable out at host 0, or puts it in again.
    bool connect(bool in_place) const { return in("a", "ip link set " + cable("a") + (in_place ? " up" : " down")); }
    /// Both ends send so many bits a second at most, as "1mbit".
    bool shape(const std::string& rate) const {
        bool fine = true;
        for (const char* side : {"a", "b"})
            fine = fine && in(side, "tc qdisc replace dev " + cable(side) + " root tbf rate " + rate +
                                        " burst 5kb latency 400ms");
        return fine;
    }

private:
    std::string id_;
    bool made_ = false;
    std::string name(const std::string& side) const { return "sinter" + id_ + side; }
    std::string cable(const std::string& side) const { return "v" + id_ + side; }
    static bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
    bool in(const std::string& side, const std::string& command) const {
        return run("ip netns exec " + name(side) + " " + command);
    }
};

} // namespace sinter
