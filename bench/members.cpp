// SPDX-License-Identifier: BSL-1.0
// peers: distributed
// How long members of a job take to find each other, and to notice that one of them is gone; as one
// JSON line.
#include <sys/mman.h>

#include <sinter/base/cluster_error.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/collective/ring.hpp>

#include "options.hpp"
#include "processes.hpp"

using namespace sinter;
using namespace sinter::bench;

namespace {

constexpr const char* help =
    "members [--what W] [--ranks N] [--rounds R]\n"
    "  --what    meet (default): from the start of the last process until all are connected;\n"
    "            kill, stop: from SIGKILL or SIGSTOP of one process, in the middle of all-reduces of 1 MiB, until\n"
    "            all others have their error. A stopped process counts as dead after\n"
    "            cluster_options::dead_after, 5 s.\n"
    "  --ranks   processes on loopback (default 2)\n"
    "  --rounds  jobs, each of new processes (default 9)";

struct options {
    std::string what = "meet";
    int ranks = 2, rounds = 9;
};
constexpr int most_ranks = 64;

/// When what happened to each process, in memory that they share; 0: not yet.
struct moments {
    double started[most_ranks], connected[most_ranks], noticed[most_ranks];
};

void live(int rank, const std::vector<std::string>& at, bool works, moments& m) {
    cluster_options with;
    with.job = "members";
    with.insecure = true;
    m.started[rank] = base::monotonic_seconds();
    const auto c = ring::connect(cluster::of(at, rank, with), {});
    m.connected[rank] = base::monotonic_seconds();
    if (!works) return c->barrier();
    std::vector<float> x(1 << 18, 1e-30f);
    try {
        const auto floats = static_cast<std::int64_t>(x.size());
        for (;;) c->wait(c->start({.what = collective::kind::all_reduce}, x.data(), floats, false));
    } catch (const cluster_error&) {
        m.noticed[rank] = base::monotonic_seconds();
    }
}

/// Seconds of one job.
double one_job(const options& o, moments& m) {
    m = {};
    const std::vector<std::string> at = loopback_addresses(o.ranks);
    const bool works = o.what != "meet";
    std::vector<pid_t> all;
    for (int r = 0; r < o.ranks; ++r) all.push_back(start_process(r, [&](int rank) { live(rank, at, works, m); }));
    const auto end = [&](const double* times, int n) { return *std::max_element(times, times + n); };
    double from = 0;
    if (works) {
        const auto there = [&] { return std::count(m.connected, m.connected + o.ranks, 0.) == 0; };
        for (int i = 0; !there() && i < 10'000; ++i) ::usleep(1'000);
        ::usleep(300'000);
        from = base::monotonic_seconds();
        ::kill(all.back(), o.what == "kill" ? SIGKILL : SIGSTOP);
        for (int r = 0; r + 1 < o.ranks; ++r) ::waitpid(all[static_cast<std::size_t>(r)], nullptr, 0);
        ::kill(all.back(), SIGKILL);
        ::waitpid(all.back(), nullptr, 0);
        if (std::count(m.noticed, m.noticed + o.ranks - 1, 0.) != 0)
            throw io_error("a process has not noticed", "members", o.what, "an error on all others");
        return end(m.noticed, o.ranks - 1) - from;
    }
    for (const pid_t p : all) {
        int status = 0;
        ::waitpid(p, &status, 0);
        if (status != 0) throw io_error("a process has failed", "members", std::to_string(status), "status 0");
    }
    return end(m.connected, o.ranks) - end(m.started, o.ranks);
}

int run(const options& o) {
    if (o.what != "meet" && o.what != "kill" && o.what != "stop")
        throw option_error("nothing that is timed here", "--what", o.what, "meet, kill or stop");
    void* const memory = ::mmap(nullptr, sizeof(moments), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw io_error("no memory to share", "mmap", "MAP_FAILED", "a page");
    std::vector<double> ms;
    for (int i = 0; i < o.rounds; ++i) ms.push_back(1e3 * one_job(o, *static_cast<moments*>(memory)));
    std::sort(ms.begin(), ms.end());
    std::printf(
        "{\"system\": \"sinter\", \"what\": \"%s\", \"ranks\": %d, \"median_ms\": %.3f, \"best_ms\": %.3f, "
        "\"worst_ms\": %.3f}\n",
        o.what.c_str(), o.ranks, ms[ms.size() / 2], ms.front(), ms.back());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    options o;
    const auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--what") o.what = value;
        else if (name == "--ranks") o.ranks = number(name, value, 2, most_ranks);
        else if (name == "--rounds") o.rounds = number(name, value, 1, 1000);
        else return false;
        return true;
    };
    return with_options(argc, argv, help, take, [&] { return run(o); });
}
