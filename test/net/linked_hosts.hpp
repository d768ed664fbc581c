// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace sinter {

/// Network namespaces with a cable between each two, as machines have. Each cable can be pulled out while the others
/// stay, and made slow. Only root can make them; made() says whether it was possible.
class linked_hosts {
public:
    /// At most nine.
    explicit linked_hosts(int hosts) : id_(std::to_string(::getpid())), hosts_(hosts), made_(::geteuid() == 0) {
        for (int h = 0; h < hosts_; ++h) made_ = made_ && run("ip netns add " + name(h)) && in(h, "ip link set lo up");
        for (int a = 0; a < hosts_; ++a)
            for (int b = a + 1; b < hosts_; ++b)
                made_ = made_ && run("ip link add " + end(a, b) + " netns " + name(a) + " type veth peer name " +
                                     end(b, a) + " netns " + name(b)) && plug(a, b) && plug(b, a);
    }
    linked_hosts(const linked_hosts&) = delete;
    linked_hosts& operator=(const linked_hosts&) = delete;
    ~linked_hosts() {
        for (int h = 0; h < hosts_; ++h) run("ip netns del " + name(h));
    }
    bool made() const { return made_; }
    static std::string address(int host) { return "10.93.7." + std::to_string(host + 1); }
    /// This process is on that host from now on.
    bool enter(int host) const {
        const int fd = ::open(("/run/netns/" + name(host)).c_str(), O_RDONLY | O_CLOEXEC);
        const bool there = fd >= 0 && ::setns(fd, CLONE_NEWNET) == 0;
        ::close(fd);
        return there;
    }
    /// Pulls the cable between two out at host a, or puts it in again.
    bool connect(int a, int b, bool in_place) const {
        return in(a, "ip link set " + end(a, b) + (in_place ? " up" : " down"));
    }
    /// Both ends of the cable between two send so many bits a second at most, as "1mbit".
    bool shape(int a, int b, const std::string& rate) const { return shaped(a, b, rate) && shaped(b, a, rate); }

private:
    std::string id_;
    int hosts_;
    bool made_;
    std::string name(int h) const { return "sinter" + id_ + "h" + std::to_string(h); }
    std::string end(int own, int other) const { return "v" + id_ + std::to_string(own) + std::to_string(other); }
    bool plug(int own, int other) const {
        return in(own, "ip addr add " + address(own) + "/32 peer " + address(other) + "/32 dev " + end(own, other)) &&
               in(own, "ip link set " + end(own, other) + " up");
    }
    bool shaped(int own, int other, const std::string& rate) const {
        return in(own, "tc qdisc replace dev " + end(own, other) + " root tbf rate " + rate +
                           " burst 5kb latency 400ms");
    }
    static bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
    bool in(int h, const std::string& command) const { return run("ip netns exec " + name(h) + " " + command); }
};

} // namespace sinter
