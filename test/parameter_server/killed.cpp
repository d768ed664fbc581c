// SPDX-License-Identifier: BSL-1.0
// shows servers: workers killed at random within pushes: each acknowledged push counts once
// needs: distributed
// waits: until killed workers are missed
#define BOOST_TEST_MODULE killed
#include "kills.hpp"

// The long form, with a hundred kills three times, is killed_often.cpp.
using namespace sinter;

BOOST_AUTO_TEST_CASE(a_push_of_a_killed_worker_counts_once_or_not_at_all) {
    server_job::kill_workers({.servers = 1, .workers = 3, .floats = 40000}, 12, 1);
    server_job::kill_workers({.servers = 2, .workers = 2}, 8, 2);
}

BOOST_AUTO_TEST_CASE(replaced_worker_cannot_push_twice) {
    using namespace server_job;
    const job j{.servers = 1, .workers = 2, .floats = 200000, .options = quick(1)};
    shared_counts& counts = shared_counts::make();
    processes p;
    const int server = p.start([&] { return j.serve(0); });
    const int chief = p.start([&] {
        client c(j.worker(0), j.identity(), j.layout());
        j.begin(c);
        while (!counts.enough) ::usleep(1000), c.asked();
        c.wait_for_others();
        const float value = common_value(c, j, 0);
        c.leave();
        return std::to_string(static_cast<std::int64_t>(value));
    });
    const auto start = [&] {
        return p.start([&] {
            client c(j.worker(1), j.identity(), j.layout());
            c.wait_until_open();
            pusher mine(c, j, 1);
            while (!counts.enough && c.may_step()) mine.push(counts);
            c.leave();
            return std::string("left");
        });
    };
    const auto goes_on = [&] {
        const std::int64_t from = counts.acknowledged[1];
        for (int i = 0; i < 100000 && counts.acknowledged[1] < from + 10; ++i) ::usleep(1000);
        BOOST_TEST(counts.acknowledged[1] >= from + 10);
    };
    std::vector<int> stopped;
    int now = start();
    for (int k = 0; k < 5; ++k) {
        goes_on();
        ::usleep(static_cast<useconds_t>(137 * k));
        p.signal(now, SIGSTOP);
        stopped.push_back(now);
        now = start();
    }
    goes_on();
    for (const int s : stopped) p.signal(s, SIGCONT);
    for (const int s : stopped) BOOST_TEST(holds(p.result(s), "error: "), p.result(s));   // it was replaced
    goes_on();
    counts.enough = true;
    BOOST_TEST(p.result(now) == "left");
    const std::int64_t value = std::atoll(p.result(chief).c_str());
    BOOST_TEST((value >= counts.acknowledged[1] && value <= counts.begun[1]),
               counts.acknowledged[1] << " acknowledged, " << value << " applied, " << counts.begun[1] << " begun");
    BOOST_TEST(holds(p.result(server), "step " + std::to_string(value) + " "), p.result(server));
}
