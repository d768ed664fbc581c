// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <random>
#include "job.hpp"

/// Workers that are killed at random places, and start again: each push of each life counts once or not at all.
namespace sinter::server_job {

inline void kill_workers(job j, int kills, unsigned seed) {
    BOOST_TEST_MESSAGE("kills: " << kills << ", seed " << seed);
    std::mt19937 random(seed);
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers;
    for (int s = 0; s < j.servers; ++s)
        servers.push_back(p.start([&j, s] { return ::alarm(600), j.serve(s); }));
    // Worker 0 lives: it pushes, too, and looks at the end.
    const int chief = p.start([&] {
        ::alarm(600);
        client c(j.worker(0), j.identity(), j.layout());
        j.begin(c);
        pusher mine(c, j, 0);
        while (!counts.enough) {
            if (!c.may_step()) return std::string("told to stop");
            mine.push(counts);
        }
        c.wait_for_others();
        std::string found;
        for (int s = 0; s < j.servers; ++s)
            found += std::to_string(static_cast<std::int64_t>(common_value(c, j, s))) + ' ';
        c.leave();
        return found;
    });
    const auto work = [&](int me) {
        ::alarm(600);
        client c(j.worker(me), j.identity(), j.layout());
        c.wait_until_open();
        pusher mine(c, j, me);
        while (!counts.enough && c.may_step()) mine.push(counts);
        c.leave();
        return std::string("left");
    };
    std::vector<int> lives;
    for (int w = 1; w < j.workers; ++w) lives.push_back(p.start([&, w] { return work(w); }));
    for (int k = 0; k < kills; ++k) {
        const int w = 1 + static_cast<int>(random() % static_cast<unsigned>(j.workers - 1));
        const std::int64_t from = counts.begun[w] + (random() % 4 ? 1 + static_cast<std::int64_t>(random() % 3) : 0);
        // some while it comes, most while it pushes
        for (int i = 0; counts.begun[w] < from && i < 600000; ++i) ::usleep(100);
        BOOST_REQUIRE(counts.begun[w] >= from);
        ::usleep(static_cast<useconds_t>(random() % 2000));
        int& life = lives[static_cast<std::size_t>(w - 1)];
        p.signal(life, SIGKILL);
        BOOST_TEST(p.result(life) == "KILLED");
        life = p.start([&, w] { return work(w); });
    }
    counts.enough = true;
    for (const int life : lives) BOOST_TEST(p.result(life, 60) == "left");
    std::istringstream found(p.result(chief, 60));
    std::int64_t least = 0, most = 0;
    for (int w = 0; w < j.workers; ++w) least += counts.acknowledged[w], most += counts.begun[w];
    for (int s = 0; s < j.servers; ++s) {
        std::int64_t value = -2;
        BOOST_TEST(bool(found >> value), found.str());
        std::istringstream told(p.result(servers[static_cast<std::size_t>(s)], 60));
        std::string word;
        std::int64_t step = 0, applied = 0, n = 0;
        BOOST_TEST(bool(told >> word >> step), told.str());
        for (int w = 0; told >> word >> n; ++w) {   // each worker's
            applied += n;
            BOOST_TEST((n >= counts.acknowledged[w] && n <= counts.begun[w]),
                       "worker " << w << ": " << counts.acknowledged[w] << " acknowledged, " << n << " applied, "
                                 << counts.begun[w] << " begun");
            for (int i = 0; i < 3; ++i) told >> n;
        }
        BOOST_TEST(value == applied, "server " << s << ": " << value << " in its floats, " << told.str());
        BOOST_TEST(step == applied);
        BOOST_TEST((value >= least && value <= most),
                   least << " acknowledged, " << value << " applied, " << most << " begun");
    }
    BOOST_TEST_MESSAGE(least << " pushes acknowledged, " << most << " begun");
}

} // namespace sinter::server_job
