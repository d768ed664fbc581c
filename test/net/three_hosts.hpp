// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace sinter {

/// Three network namespaces with a cable between each two, of which one can be pulled out while the others stay. Only
/// root can make them; made() says whether it was possible.
class three_hosts {
public:
    three_hosts() : id_(std::to_string(::getpid())) {
        made_ = ::geteuid() == 0;
        for (int h = 0; h < 3; ++h) made_ = made_ && run("ip netns add " + name(h)) && in(h, "ip link set lo up");
        for (int a = 0; a < 3; ++a)
            for (int b = a + 1; b < 3; ++b)
                made_ = made_ && run("ip link add " + end(a, b) + " netns " + name(a) + " type veth peer name " +
                                     end(b, a) + " netns " + name(b)) && plug(a, b) && plug(b, a);
    }
    three_hosts(const three_hosts&) = delete;
    three_hosts& operator=(const three_hosts&) = delete;
    ~three_hosts() {
        for (int h = 0; h < 3; ++h) run("ip netns del " + name(h));
    }
    bool made() const { return made_; }
    static std::string address(int host) { return "10.93.8." + std::to_string(host + 1); }
    /// This process is on that host from now on.
    bool enter(int host) const {
        const int fd = ::open(("/run/netns/" + name(host)).c_str(), O_RDONLY | O_CLOEXEC);
        const bool there = fd >= 0 && ::setns(fd, CLONE_NEWNET) == 0;
        ::close(fd);
        return there;
    }
    /// Pulls the cable between two out.
    bool cut(int a, int b) const { return in(a, "ip link set " + end(a, b) + " down"); }

private:
    std::string id_;
    bool made_ = false;
    std::string name(int h) const { return "sinter" + id_ + "h" + std::to_string(h); }
    std::string end(int own, int other) const { return "v" + id_ + std::to_string(own) + std::to_string(other); }
    bool plug(int own, int other) const {
        return in(own, "ip addr add " + address(own) + "/32 peer " + address(other) + "/32 dev " + end(own, other)) &&
               in(own, "ip link set " + end(own, other) + " up");
    }
    static bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
    bool in(int h, const std::string& command) const { return run("ip netns exec " + name(h) + " " + command); }
};

} // namespace sinter
