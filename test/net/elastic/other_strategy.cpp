// SPDX-License-Identifier: BSL-1.0
// shows elastic: `elastic` on one member alone: both get an error at once
// needs: distributed
// waits: for members that do not answer
#define BOOST_TEST_MODULE other_strategy
#include <boost/test/unit_test.hpp>
#include "net/own_addresses.hpp"
#include <sinter/net/elastic/assembly_service.hpp>
#include <sinter/net/process_group.hpp>
#include <thread>

// One process of a job is elastic and another is not: they meet by other means, and both say so instead of waiting.
using namespace sinter;

BOOST_AUTO_TEST_CASE(both_report_the_difference) {
    for (const int elastic : {0, 1}) {
        const auto at = own_addresses(2);
        cluster_options o;
        o.job = "mixed";
        o.join_within = 100;   // far longer than the test may take
        std::string told[2];
        std::thread with([&] {
            o.elastic = true;
            wire::assembly_service s(cluster::of(at, elastic, o), 2);
            s.wait([&](wire::assembly& a, double) { return !(told[0] = a.fault()).empty(); });
        });
        try {
            wire::process_group without(cluster::of(at, 1 - elastic, {.job = "mixed", .join_within = 100}), {1, 2, 3});
        } catch (const cluster_error& e) {
            told[1] = e.what();
            BOOST_TEST(e.rank() == elastic);
        }
        with.join();
        for (const std::string& t : told) BOOST_TEST(t.find("members' strategies differ") != t.npos, t);
    }
}
