// SPDX-License-Identifier: BSL-1.0
// shows servers: workers killed at random within pushes: each acknowledged push counts once
// needs: distributed
// labels: slow
// processors: 2
#define BOOST_TEST_MODULE killed_often
#include "kills.hpp"

using namespace sinter;

BOOST_AUTO_TEST_CASE(a_hundred_kills_three_times) {
    for (unsigned seed = 1; seed <= 3; ++seed)
        server_job::kill_workers({.servers = static_cast<int>(1 + seed % 2), .workers = 3, .floats = 1600 << 2 * seed},
                                 100, seed);
}
