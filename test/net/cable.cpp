// SPDX-License-Identifier: BSL-1.0
// shows network: cables out for a moment or for good between two hosts: the job goes on, or both ends end
// needs: distributed
// waits: while nothing comes through
#define BOOST_TEST_MODULE cable
#include <boost/test/unit_test.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/process_group.hpp>
#include "linked_hosts.hpp"
#include "processes.hpp"
#include <iostream>

// Two members on two hosts, and what becomes of them when the cable is pulled out. Only root can make such hosts.
using namespace sinter;
using wire::process_group;

static const linked_hosts* hosts() {
    static const linked_hosts h(2);
    if (!h.made()) std::cout << "skipped: only root can make network namespaces, with the commands ip and tc\n";
    return h.made() ? &h : nullptr;
}

using both_flags = shared_flag[2];
/// Both members exchange something every 50 ms for so long; what became of it, and after how many seconds of its life.
/// `there`: they do so now.
static void start_two(processes& p, const linked_hosts& h, const cluster_options& o, double seconds,
                      const both_flags& there) {
    const std::vector<std::string> at{linked_hosts::address(0) + ":7000", linked_hosts::address(1) + ":7000"};
    for (int r = 0; r < 2; ++r)
        p.start([&h, &there, at, o, r, seconds] {
            if (!h.enter(r)) return std::string("no such host");
            process_group g(cluster::of(at, r, o), {});
            const double begin = base::monotonic_seconds();
            try {
                // Rank 0 says when it is enough.
                while (g.exchange("more?", base::monotonic_seconds() < begin + seconds ? "yes" : "no")[0] == "yes") {
                    there[r].set();
                    ::usleep(50000);
                }
                g.leave();
                return std::string("fine");
            } catch (const cluster_error& e) {
                return "after " + std::to_string(base::monotonic_seconds() - begin) + ": " + e.what();
            }
        });
}

static void wait_for(const both_flags& there) {
    for (const shared_flag& f : there) f.wait();
}

BOOST_AUTO_TEST_CASE(a_cable_that_comes_back_soon_is_not_noticed) {
    const linked_hosts* h = hosts();
    if (!h) return;
    const both_flags there;
    processes p;
    start_two(p, *h, quick(6), 3, there);
    wait_for(there);
    ::usleep(300000);
    BOOST_TEST(h->connect(0, 1, false));
    ::usleep(1000000);
    BOOST_TEST(h->connect(0, 1, true));
    for (int r = 0; r < 2; ++r) BOOST_TEST(p.result(r) == "fine");
}

BOOST_AUTO_TEST_CASE(a_cable_that_stays_out_ends_both) {
    const linked_hosts* h = hosts();
    if (!h) return;
    const both_flags there;
    processes p;
    start_two(p, *h, quick(1), 30, there);
    wait_for(there);
    ::usleep(300000);
    BOOST_TEST(h->connect(0, 1, false));
    for (int r = 0; r < 2; ++r) {
        const std::string text = p.result(r);
        BOOST_TEST((holds(text, "no sign of life for ") && holds(text, linked_hosts::address(1 - r) + ":7000")), text);
    }
    BOOST_TEST(h->connect(0, 1, true));
}

BOOST_AUTO_TEST_CASE(a_slow_cable_is_enough) {
    const linked_hosts* h = hosts();
    if (!h) return;
    BOOST_TEST(h->shape(0, 1, "1mbit"));
    const both_flags there;
    processes p;
    start_two(p, *h, quick(5), 1, there);
    for (int r = 0; r < 2; ++r) BOOST_TEST(p.result(r) == "fine");
}

BOOST_AUTO_TEST_CASE(a_host_that_cannot_be_reached_is_missing) {
    const linked_hosts* h = hosts();
    if (!h) return;
    const both_flags there;
    processes p;
    BOOST_TEST(h->connect(0, 1, false));
    cluster_options o = quick(1);
    o.join_within = 1;
    start_two(p, *h, o, 1, there);
    for (int r = 0; r < 2; ++r)
        BOOST_TEST(holds(p.result(r), "missing after 1.0 s"), p.result(r));
}
