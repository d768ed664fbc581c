// SPDX-License-Identifier: BSL-1.0
// shows servers: damaged, cut, repeated and slow connections: each push counts once
// needs: distributed
// waits: for what a damaged link holds up
#define BOOST_TEST_MODULE faults
#include <boost/test/unit_test.hpp>
#include "../net/fault_proxy.hpp"
#include "job.hpp"

// Workers with a proxy between them and a server that spoils what they say. They dial again, send again what was not
// acknowledged, and each push counts once.
using namespace sinter;
using server_job::job;

/// Worker 1 of two reaches server 0 by way of the proxy. What went wrong; empty: nothing.
static std::string push_through(const fault_proxy::faults& f, job j, int pushes = 30,
                                parameter_servers::client_options with = {}) {
    processes p;
    server_job::shared_counts& counts = server_job::shared_counts::make();
    const auto at = [&](std::size_t i) { return wire::parse_address(j.at[i], "test"); };
    const int proxy = p.start([&] { return fault_proxy::run(at(15), at(2), f, [] { return true; }), std::string(); });
    std::vector<int> all;
    for (int s = 0; s < j.servers; ++s) all.push_back(p.start([&, s] { return j.serve(s); }));
    for (int w = 0; w < 2; ++w)
        all.push_back(p.start([&, w] {
            job seen = j;
            if (w == 1) seen.at[2] = j.at[15];
            return server_job::work(seen, w, pushes, counts, 0, with);
        }));
    if (with.reconnect_within == 0 && holds(p.result(all.back()), "error: "))
        for (std::size_t i = 0; i + 1 < all.size(); ++i) p.signal(all[i], SIGKILL);   // they would wait for that worker
    std::string values = "values", found;
    for (int s = 0; s < j.servers; ++s) values += ' ' + std::to_string(2 * pushes);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const int w = static_cast<int>(i) - j.servers;
        const std::string r = p.result(all[i]);
        if (w < 0 ? !holds(r, "step " + std::to_string(2 * pushes) + " ") : r != (w == 0 ? values : "left"))
            found += (w < 0 ? "server " + std::to_string(i) : "worker " + std::to_string(w)) + ": " + r + "; ";
    }
    p.signal(proxy, SIGKILL);
    return found;
}
static job two_workers(int servers = 1, std::int64_t floats = 4096, double dead_after = 5) {
    return {.servers = servers, .workers = 2, .floats = floats, .options = quick(dead_after)};
}

BOOST_AUTO_TEST_CASE(a_slow_network_that_cuts_everything_up_makes_no_difference) {
    fault_proxy::faults f;
    f.most_chunk = 1;
    BOOST_TEST(push_through(f, two_workers(1, 256), 5) == "");
    f.most_chunk = 1500;
    f.most_delay = 0.002;
    BOOST_TEST(push_through(f, two_workers(1, 1024), 10) == "");
    BOOST_TEST(push_through(f, two_workers(2, 1024), 10) == "");
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_off_anywhere_is_made_anew) {
    for (const bool upwards : {true, false})
        for (const std::ptrdiff_t at :
             {1, 100, 456, 470, 488, 500, 840, 850, 900, 1300, 5000, 17000, 40000, 100000, 300001}) {
            fault_proxy::faults f;
            f.upwards = upwards;
            f.connection = 0;
            f.cut_at = at;
            const std::string trouble = push_through(f, two_workers());
            BOOST_TEST(trouble == "", "cut at " << at << (upwards ? " upwards: " : " downwards: ") << trouble);
        }
}

BOOST_AUTO_TEST_CASE(damage_is_found_and_sent_again) {
    for (const bool upwards : {true, false})
        for (const std::ptrdiff_t at : {900, 1003, 1777, 30000, 99999}) {   // behind the handshake
            fault_proxy::faults f;
            f.upwards = upwards;
            f.connection = 0;
            f.flip_at = at;
            const std::string trouble = push_through(f, two_workers());
            BOOST_TEST(trouble == "", "bit at " << at << (upwards ? " upwards: " : " downwards: ") << trouble);
        }
}

// A bit that is damaged in a handshake, the first one or that of a worker that dials again, looks like another key.
BOOST_AUTO_TEST_CASE(damage_in_a_handshake_is_dialled_again) {
    for (const bool upwards : {true, false})
        for (const bool again : {false, true})
            for (const std::ptrdiff_t at : {2, 4, 16, 24, 58, 70, 130, 200, 459, 470, 500, 700, 830}) {
                if (at >= (upwards ? 488 : 840)) continue;
                fault_proxy::faults f;
                f.upwards = upwards;
                f.connection = again ? 1 : 0;
                f.first_ends_at = again ? 30000 : -1;
                f.flip_at = at;
                const std::string trouble = push_through(f, two_workers());
                BOOST_TEST(trouble == "", at << (upwards ? " up, " : " down, ") << again << ": " << trouble);
            }
}

BOOST_AUTO_TEST_CASE(what_is_repeated_on_the_way_counts_once) {
    for (const bool upwards : {true, false})
        for (const std::ptrdiff_t at : {900, 4000, 30000}) {
            fault_proxy::faults f;
            f.upwards = upwards;
            f.connection = 0;
            f.repeat_at = at;
            const std::string trouble = push_through(f, two_workers());
            BOOST_TEST(trouble == "", "again at " << at << (upwards ? " upwards: " : " downwards: ") << trouble);
        }
}

BOOST_AUTO_TEST_CASE(a_direction_that_falls_silent_or_ends) {
    for (const bool upwards : {true, false})
        for (const bool tells : {true, false}) {
            fault_proxy::faults f;
            f.upwards = upwards;
            f.connection = 0;
            (tells ? f.half_close_at : f.mute_at) = 20000;
            const std::string trouble = push_through(f, two_workers(1, 4096, 1));
            BOOST_TEST(trouble == "", (upwards ? "upwards " : "downwards ") << tells << ": " << trouble);
        }
}

BOOST_AUTO_TEST_CASE(faults_at_random_places) {
    std::mt19937 random(11);
    for (int i = 0; i < 25; ++i) {
        fault_proxy::faults f;
        f.seed = static_cast<unsigned>(i);
        f.most_chunk = 1 + random() % 20000;
        f.connection = static_cast<int>(random() % 2);
        f.upwards = random() % 2 != 0;
        const auto at = static_cast<std::ptrdiff_t>(850 + random() % 400000);
        switch (random() % 4) {
            case 0: f.flip_at = at; break;
            case 1: f.cut_at = at; break;
            case 2: f.repeat_at = at; break;
            default: f.half_close_at = at; break;
        }
        const std::string trouble = push_through(f, two_workers(1 + i % 2));
        BOOST_TEST(trouble == "", i << ": " << trouble);
    }
}

BOOST_AUTO_TEST_CASE(without_a_second_try_a_lost_connection_is_an_error_that_names_the_server) {
    fault_proxy::faults f;
    f.connection = 0;
    f.cut_at = 30000;
    const job j = two_workers();
    const std::string trouble = push_through(f, j, 30, {.reconnect_within = 0});
    BOOST_TEST(holds(trouble, "worker 1: error: "), trouble);
    BOOST_TEST(holds(trouble, "ps/0 at " + j.at[15]), trouble);
}
