// SPDX-License-Identifier: BSL-1.0
// shows servers: cables out for a moment or for long, and directions that fall silent
// needs: distributed
// waits: while nothing comes through
#define BOOST_TEST_MODULE cable
#include <boost/test/unit_test.hpp>
#include "../net/linked_hosts.hpp"
#include "job.hpp"
#include <iostream>

// A server and a worker on two hosts, and what becomes of them when the cable is pulled out. Only
// root can make such hosts.
using namespace sinter;
using namespace sinter::server_job;

static const linked_hosts* hosts() {
    static const linked_hosts h(2);
    if (!h.made()) std::cout << "skipped: only root can make network namespaces, with the commands ip and tc\n";
    return h.made() ? &h : nullptr;
}
struct pair { int server, worker; };
static pair start_two(processes& p, const linked_hosts& h, const job& j, int pushes, double pause,
                      shared_counts& counts, client_options with = {}) {
    const int server = p.start([&h, j] { return h.enter(1) ? j.serve(0) : "no such host"; });
    const int worker = p.start([&h, j, pushes, pause, &counts, with] {
        return h.enter(0) ? work(j, 0, pushes, counts, pause, with) : "no such host";
    });
    return {server, worker};
}
static job on_two_hosts(double dead_after) {
    return {.servers = 1, .workers = 1, .floats = 1024, .options = quick(dead_after),
            .at = {linked_hosts::address(0) + ":7000", linked_hosts::address(1) + ":7000"}};
}

BOOST_AUTO_TEST_CASE(a_cable_that_comes_back_is_waited_for) {
    const linked_hosts* h = hosts();
    if (!h) return;
    for (const double dead_after : {4., 0.5}) {   // not noticed; noticed on both sides, and dialled again
        processes p;
        shared_counts& counts = shared_counts::make();
        const job j = on_two_hosts(dead_after);
        const pair two = start_two(p, *h, j, 200, 0.01, counts);
        for (int i = 0; i < 100000 && counts.acknowledged[0] < 20; ++i) ::usleep(1000);
        BOOST_TEST(h->connect(0, 1, false));
        ::usleep(1500000);
        BOOST_TEST(counts.acknowledged[0] < 200);
        BOOST_TEST(h->connect(0, 1, true));
        BOOST_TEST(p.result(two.worker, 20) == "values 200");
        BOOST_TEST(holds(p.result(two.server), "step 200 "), p.result(two.server));
    }
}

BOOST_AUTO_TEST_CASE(a_cable_that_stays_out_ends_both) {
    const linked_hosts* h = hosts();
    if (!h) return;
    processes p;
    shared_counts& counts = shared_counts::make();
    const job j = on_two_hosts(0.5);
    const pair two = start_two(p, *h, j, 100000, 0.01, counts, {.reconnect_within = 1});
    for (int i = 0; i < 100000 && counts.acknowledged[0] < 20; ++i) ::usleep(1000);
    BOOST_TEST(h->connect(0, 1, false));
    const std::string told = p.result(two.worker, 30);
    BOOST_TEST(holds(told, "ps/0 at " + j.at[1]), told);
    BOOST_TEST(h->connect(0, 1, true));
    BOOST_TEST(holds(p.result(two.server, 60), "error: "), p.result(two.server));
}

BOOST_AUTO_TEST_CASE(a_slow_cable_is_enough) {
    const linked_hosts* h = hosts();
    if (!h) return;
    BOOST_TEST(h->shape(0, 1, "1mbit"));
    processes p;
    shared_counts& counts = shared_counts::make();
    const pair two = start_two(p, *h, on_two_hosts(2), 20, 0, counts);
    BOOST_TEST(p.result(two.worker) == "values 20");
    BOOST_TEST(holds(p.result(two.server), "step 20 "), p.result(two.server));
}
