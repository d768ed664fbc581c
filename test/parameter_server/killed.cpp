// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#define BOOST_TEST_MODULE killed
#include "kills.hpp"

// The long form, with a hundred kills three times, is killed_often.cpp.
using namespace sinter;

BOOST_AUTO_TEST_CASE(a_push_of_a_killed_worker_counts_once_or_not_at_all) {
    server_job::kill_workers({.servers = 1, .workers = 3, .floats = 40000}, 12, 1);
    server_job::kill_workers({.servers = 2, .workers = 2}, 8, 2);
}
