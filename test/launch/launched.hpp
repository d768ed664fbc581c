// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/roster/hostlist.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/net/from_environment.hpp>
#include <sinter/net/progress_report.hpp>
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

/// Runs sinter-launch (SINTER_LAUNCH), or another launcher, with this very program as members: each
/// under a hard time limit, in a folder of its own that is removed afterwards.
namespace launched {

inline std::string read(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline std::string self() { return std::filesystem::read_symlink("/proc/self/exe"); }

struct folder {
    std::string path = "/tmp/sinter-launch-XXXXXX";
    folder() {
        if (!::mkdtemp(path.data())) throw std::runtime_error("no temporary folder");
    }
    ~folder() { std::filesystem::remove_all(path); }
};

struct outcome {
    int status;   // as a shell shows it
    std::string out, err;
    bool has(const std::string& text) const { return (out + err).find(text) != std::string::npos; }
};

/// Runs a shell script, in which L is sinter-launch and M is this program as a member.
inline outcome run(const std::string& script) {
    const folder f;
    const char* const launch = std::getenv("SINTER_LAUNCH");
    std::ofstream(f.path + "/script") << "L=" << (launch ? launch : "sinter-launch") << "; M=" << self() << "; cd "
                                      << f.path << "\n" << script << "\n";
    const std::string command = "cd " + f.path + " && timeout -k 1 60 bash script >out 2>err </dev/null";
    const int status = std::system(command.c_str());
    const int shown = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {shown, read(f.path + "/out"), read(f.path + "/err")};
}

/// What this program does as a member: MEMBER says it.
inline int member(const std::string& what) {
    using namespace sinter;
    try {
        if (what == "hosts") {
            for (const auto& host : wire::roster::expand_hostlist(std::getenv("LIST"), "LIST"))
                std::printf("%s ", host.c_str());
            return 0;
        }
        const cluster c = cluster::from_environment();
        const auto say = [](const std::string& line) { std::printf("%s\n", line.c_str()), std::fflush(stdout); };
        if (what == "show") {
            say(c.self().name() + " rank " + std::to_string(c.rank()) + " of " + std::to_string(c.size()));
        } else if (what == "all") {
            say("job " + c.options.job + " key " + c.options.key);
            std::string addresses;
            for (const auto& m : c.all()) addresses += " " + m.name() + "=" + text_of(m.address());
            say("all" + addresses);
            const std::string seen = read("/proc/self/environ") + read("/proc/self/cmdline");
            say(seen.find(c.options.key) == seen.npos ? "the key is nowhere to be seen" : "the key is seen");
        } else if (what == "listen") {
            const int fd = ::socket(AF_INET, SOCK_STREAM, 0), on = 1;
            ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
            sockaddr_in a{};
            a.sin_family = AF_INET, a.sin_port = htons(c.self().port), a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            const bool listens = ::bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0 && ::listen(fd, 5) == 0;
            say(listens ? "listens" : "cannot listen");
        } else if (what == "report") {
            wire::progress_report report;
            for (int step = 1; step <= 3; ++step) {
                report.step(10 * step, 1.5 / step);
                std::this_thread::sleep_for(std::chrono::milliseconds(150));
            }
            if (c.rank() == 1) report.note("saves\x1b[31m");
        } else if (what == "cores") {
            std::string status = read("/proc/self/status");
            status.erase(0, status.find("Cpus_allowed_list:"));
            say(status.substr(0, status.find('\n')));
        } else if (what == "meet") {   // not only told of each other: connected
            const auto group = ring::connect(c, {});
            std::string names;
            const std::string own = c.self().name();
            for (const auto& name : group->all_gather(std::as_bytes(std::span(own))))
                names += " " + std::string(reinterpret_cast<const char*>(name.data()), name.size());
            say("rank " + std::to_string(c.rank()) + " met" + names);
            group->report(7, 0.25);
            group->barrier();
        } else if (what == "slow") {   // from its step 20 on the second one works ten times as long
            const auto group = ring::connect(c, {});
            float x[] = {1};
            for (int step = 1; step <= 60; ++step) {
                const bool slow = c.rank() == 1 && step > 20 && step <= 45;
                std::this_thread::sleep_for(std::chrono::milliseconds(slow ? 100 : 10));
                group->all_reduce(span<float>(x, 1));
                group->report(step, 0.5);
            }
            group->barrier();
        } else if (what == "master") {
            say("rank " + std::to_string(c.rank()) + " of " + std::to_string(c.size()) + " at " + text_of(c.master()) +
                " by " + c.how());
        }
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}

/// Whether all of `programs` are found; says "skipped" where not, which ctest shows.
inline bool all_found(std::initializer_list<const char*> programs) {
    for (const std::string program : programs)
        if (std::system(("PATH=$PATH:/usr/sbin; command -v " + program + " >/dev/null").c_str()) != 0) {
            std::printf("skipped: there is no %s\n", program.c_str());
            return false;
        }
    return true;
}

/// Before main(): a member does its part and ends.
inline const bool is_no_member = [] {
    if (const char* what = std::getenv("MEMBER")) std::exit(member(what));
    return true;
}();

} // namespace launched
