// SPDX-License-Identifier: BSL-1.0
// shows servers: soaks: random kills, stops and restarts of every worker and server, in each mode
// needs: distributed
// labels: slow
#define BOOST_TEST_MODULE soak
#include <sinter/base/os/monotonic_seconds.hpp>
#include <boost/test/unit_test.hpp>
#include "restarting.hpp"
#include <random>

// Two servers and three workers under random kills and stops. Half a minute; SINTER_SOAK_SECONDS says how long else.
using namespace sinter;
using namespace sinter::server_job;

BOOST_AUTO_TEST_CASE(random_kills_and_stops) {
    const char* const set = std::getenv("SINTER_SOAK_SECONDS");
    const double seconds = set ? std::atof(set) : 30;
    const auto most = static_cast<unsigned>(seconds) + 120;
    const folder f;
    const job j{.servers = 2, .workers = 4, .floats = 16000};
    shared_counts& counts = shared_counts::make();
    processes p;
    const auto start_server = [&](int s) { return p.start([&, s] { return ::alarm(most), serve(j, s, f.file(s)); }); };
    const auto start_worker = [&](int w) {
        return p.start([&, w] { return ::alarm(most), push_until_enough(j, w, counts); });
    };
    std::vector<int> servers, workers;
    for (int s = 0; s < j.servers; ++s) servers.push_back(start_server(s));
    for (int w = 0; w < j.workers; ++w) workers.push_back(start_worker(w));
    std::mt19937 random(static_cast<unsigned>(::getpid()));
    after_kills right;
    int kills = 0, stops = 0, server_kills = 0;
    std::int64_t pushed = 0;
    double progress_at = base::monotonic_seconds();
    for (const double end = progress_at + seconds; base::monotonic_seconds() < end;) {
        ::usleep(200000 + static_cast<useconds_t>(random() % 800000));
        const std::int64_t now = sum(counts.acknowledged, j.workers);
        if (now > pushed) pushed = now, progress_at = base::monotonic_seconds();
        BOOST_REQUIRE_MESSAGE(base::monotonic_seconds() < progress_at + 30, "no push for 30 s, after " << kills
                              << " kills, " << server_kills << " of a server, " << stops << " stops");
        const int w = 1 + static_cast<int>(random() % static_cast<unsigned>(j.workers - 1));
        int& worker = workers[static_cast<std::size_t>(w)];
        switch (random() % 6) {
            case 0:
                p.signal(servers[1], SIGKILL);
                BOOST_TEST(p.result(servers[1]) == "KILLED");
                right.killed(j, f.file(1), counts);
                servers[1] = start_server(1);
                ++server_kills;
                break;
            case 1:
                p.signal(worker, SIGSTOP);
                ::usleep(static_cast<useconds_t>(random() % 800000));   // shorter than what counts as death
                p.signal(worker, SIGCONT);
                ++stops;
                break;
            default:
                p.signal(worker, SIGKILL);
                BOOST_TEST(p.result(worker) == "KILLED");
                worker = start_worker(w);
                ++kills;
        }
    }
    counts.enough = true;
    for (int w = 1; w < j.workers; ++w) BOOST_TEST(p.result(workers[static_cast<std::size_t>(w)], 60) == "left");
    std::istringstream found(p.result(workers[0], 60));
    std::int64_t untouched = -1, restored = -1;
    BOOST_TEST(bool(found >> untouched >> restored), found.str());
    const std::int64_t acknowledged = sum(counts.acknowledged, j.workers), begun = sum(counts.begun, j.workers);
    BOOST_TEST((untouched >= acknowledged && untouched <= begun),
               acknowledged << " <= " << untouched << " <= " << begun);
    BOOST_TEST(right.trouble(restored, counts) == "");
    for (const int s : servers) BOOST_TEST(holds(p.result(s, 60), "step "), p.result(s));
    BOOST_TEST_MESSAGE(acknowledged << " pushes; " << kills << " workers killed, " << stops
                       << " stopped, a server killed " << server_kills << " times");
}
