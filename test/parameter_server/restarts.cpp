// SPDX-License-Identifier: BSL-1.0
// shows servers: a killed server comes back: no more is lost than since its checkpoint
// needs: distributed
// waits: until servers are dialled again
#define BOOST_TEST_MODULE restarts
#include <boost/test/unit_test.hpp>
#include "restarting.hpp"
#include <random>

// Servers that are killed and come back from their checkpoints. Workers wait for them and go on;
// what is lost is no more than was pushed since the last checkpoint, and nothing counts twice.
using namespace sinter;
using namespace sinter::server_job;

BOOST_AUTO_TEST_CASE(a_server_comes_back_from_its_checkpoint) {
    const folder f;
    const job j{.servers = 2, .workers = 2, .floats = 1024};
    shared_counts& counts = shared_counts::make();
    processes p;
    std::mt19937 random(5);
    std::vector<int> servers, workers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return serve(j, s, f.file(s)); }));
    for (int w = 0; w < 2; ++w) workers.push_back(p.start([&, w] { return push_until_enough(j, w, counts); }));
    constexpr int kills = 6;
    after_kills right;
    for (int k = 0; k < kills; ++k) {
        const std::int64_t from = sum(counts.acknowledged, 2);
        for (int i = 0; i < 100000 && sum(counts.acknowledged, 2) < from + 60; ++i) ::usleep(1000);
        BOOST_TEST(sum(counts.acknowledged, 2) >= from + 60, "after " << k << " kills");
        ::usleep(static_cast<useconds_t>(random() % 3000));
        p.signal(servers[1], SIGKILL);   // the other one is never touched
        BOOST_TEST(p.result(servers[1]) == "KILLED");
        right.killed(j, f.file(1), counts);
        if (k == 3) {   // and a worker with it
            p.signal(workers[1], SIGKILL);
            BOOST_TEST(p.result(workers[1]) == "KILLED");
            workers[1] = p.start([&] { return push_until_enough(j, 1, counts); });
        }
        servers[1] = p.start([&] { return serve(j, 1, f.file(1)); }, 0.05 * static_cast<double>(random() % 4));
    }
    const std::int64_t from = sum(counts.acknowledged, 2);
    for (int i = 0; i < 100000 && sum(counts.acknowledged, 2) < from + 60; ++i) ::usleep(1000);
    counts.enough = true;
    BOOST_TEST(p.result(workers[1]) == "left");
    std::istringstream found(p.result(workers[0]));
    std::int64_t untouched = -1, restored = -1;
    BOOST_TEST(bool(found >> untouched >> restored), found.str());
    const std::int64_t acknowledged = sum(counts.acknowledged, 2), begun = sum(counts.begun, 2);
    BOOST_TEST((untouched >= acknowledged && untouched <= begun),
               acknowledged << " <= " << untouched << " <= " << begun);
    BOOST_TEST(right.trouble(restored, counts) == "");
    for (const int s : servers) BOOST_TEST(holds(p.result(s), "step "), p.result(s));
}

BOOST_AUTO_TEST_CASE(all_servers_and_workers_die_and_come_back) {
    const folder f;
    const job j{.servers = 2, .workers = 2, .floats = 1024};
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, workers;
    const auto start = [&] {
        servers.clear(), workers.clear();
        for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return serve(j, s, f.file(s)); }));
        for (int w = 0; w < 2; ++w) workers.push_back(p.start([&, w] { return push_until_enough(j, w, counts); }));
    };
    start();
    after_kills right[2];
    const auto on = [&] {
        const std::int64_t from = sum(counts.acknowledged, 2);
        for (int i = 0; i < 100000 && sum(counts.acknowledged, 2) < from + 80; ++i) ::usleep(1000);
        BOOST_TEST(sum(counts.acknowledged, 2) >= from + 80);
    };
    for (int k = 0; k < 2; ++k) {
        on();
        for (const auto& all : {servers, workers})
            for (const int i : all) p.signal(i, SIGKILL), p.result(i);
        for (int s = 0; s < 2; ++s) right[s].killed(j, f.file(s), counts);
        start();
    }
    on();
    counts.enough = true;
    BOOST_TEST(p.result(workers[1]) == "left");
    std::istringstream found(p.result(workers[0]));
    for (int s = 0; s < 2; ++s) {
        std::int64_t value = -1;
        BOOST_TEST(bool(found >> value), found.str());
        BOOST_TEST(right[s].trouble(value, counts) == "");
        BOOST_TEST(holds(p.result(servers[static_cast<std::size_t>(s)]), "step "),
                   p.result(servers[static_cast<std::size_t>(s)]));
    }
}
