// SPDX-License-Identifier: BSL-1.0
// shows members: members that die, stop, get stuck, throw, leave early or are slow: noticed by all, by name
// needs: distributed
// waits: until members are missed
#define BOOST_TEST_MODULE process_group
#include <boost/test/unit_test.hpp>
#include <sinter/net/process_group.hpp>
#include "processes.hpp"
#include <array>
#include <dirent.h>
#include <malloc.h>

// What members learn of each other once all are there: ends, errors, wishes; and how a job ends.
using namespace sinter;
using namespace sinter::base;
using wire::process_group;

/// Waits for the first error, and says it with the seconds that it took since `begin`.
static std::string wait_for_error(process_group& g, double most = 50) {
    pollfd p{g.failed_descriptor(), POLLIN, 0};
    if (::poll(&p, 1, static_cast<int>(most * 1000)) == 0) return "no error";
    try {
        g.check();
    } catch (const cluster_error& e) {
        return std::to_string(e.rank()) + "|" + e.role() + "|" + e.address() + "|" + e.operation() + "|" +
               std::to_string(e.step()) + "|" + e.cause();
    }
    return "no error though the descriptor says so";
}

/// What members of a test have come to.
struct stages {
    std::array<shared_flag, 4> here;
    void reached(int rank) const { here[static_cast<std::size_t>(rank)].set(); }
    void wait_for(const std::vector<int>& ranks) const {
        for (const int r : ranks) here[static_cast<std::size_t>(r)].wait();
    }
};
/// Waits until a heartbeat of this member has said that it is at a step.
static void wait_until_it_is_at(process_group& g, int rank, std::int64_t step) {
    while (g.status()[static_cast<std::size_t>(rank)].step != step) ::usleep(5000), g.check();
}

/// n members at these addresses, each of which does f.
static void start_all(processes& p, const std::vector<std::string>& at, const cluster_options& o,
                      const std::function<std::string(process_group&)>& f) {
    for (int r = 0; r < static_cast<int>(at.size()); ++r)
        p.start([&, r] {
            process_group g(cluster::of(at, r, o), {});
            g.exchange("all are here", "");
            return f(g);
        });
}

BOOST_AUTO_TEST_CASE(a_killed_member_is_noticed_at_once) {
    for (const int n : {2, 4}) {
        const auto at = own_addresses(n);
        processes p;
        const stages its_step_is_known;
        start_all(p, at, quick(5), [&](process_group& g) {
            g.progress(41, "all-reduce of bucket 3");
            if (g.rank() == 1) {
                its_step_is_known.wait_for(n == 2 ? std::vector{0} : std::vector{0, 2, 3});
                ::raise(SIGKILL);
            }
            wait_until_it_is_at(g, 1, 41);
            if (n == 4) g.progress(60, "all-reduce of bucket 3");   // what it has said since then nobody has heard
            its_step_is_known.reached(g.rank());
            return wait_for_error(g);
        });
        BOOST_TEST(p.result(1) == "KILLED");
        const std::string step = n == 4 ? "60" : "41";
        for (int r = 0; r < n; ++r)
            if (r != 1)
                BOOST_TEST(p.result(r) == "1|worker/1|" + at[1] + "|all-reduce of bucket 3|" + step +
                                              "|the connection was closed: the process ended or was killed");
    }
}

/// Its connections are reset, which is no other end than that of one which has read all that the others said.
BOOST_AUTO_TEST_CASE(a_member_that_is_killed_before_it_has_read_all) {
    const auto at = own_addresses(2);
    processes p;
    cluster_options o = quick(5);
    o.heartbeat = 0.02;
    const stages all;
    start_all(p, at, o, [&](process_group& g) {
        all.reached(g.rank());
        return wait_for_error(g);
    });
    all.wait_for({0, 1});
    p.signal(1, SIGSTOP);
    ::usleep(200000);   // some of the other one's heartbeats come
    p.signal(1, SIGKILL);
    const std::string text = p.result(0);
    BOOST_TEST(holds(text, "|the connection was closed: the process ended or was killed"), text);
}

BOOST_AUTO_TEST_CASE(a_stopped_member_is_removed_and_learns_of_it) {
    const auto at = own_addresses(3);
    processes p;
    const stages its_step_is_known;
    start_all(p, at, quick(2), [&](process_group& g) {
        if (g.rank() != 2) {
            wait_until_it_is_at(g, 2, 1);
            its_step_is_known.reached(g.rank());
            return wait_for_error(g);
        }
        for (;;) {   // it works on: what it does once it goes on must end in an error
            g.progress(1, "work");
            g.check();
            ::usleep(1000);
        }
    });
    its_step_is_known.wait_for({0, 1});
    p.signal(2, SIGSTOP);
    for (const int r : {0, 1}) {
        const std::string text = p.result(r);
        BOOST_TEST((holds(text, "2|worker/2|" + at[2] + "|work|1|no sign of life for ")), text);
    }
    p.signal(2, SIGCONT);
    const std::string text = p.result(2);
    BOOST_TEST(holds(text, "this process was removed"), text);
    BOOST_TEST(holds(text, "rank 2, worker/2 at " + at[2]), text);
}

BOOST_AUTO_TEST_CASE(a_short_stop_is_no_death) {
    processes p;
    const auto at = own_addresses(2);
    const stages all;
    const shared_flag goes_on;
    start_all(p, at, quick(4), [&](process_group& g) {
        all.reached(g.rank());
        goes_on.wait();
        g.exchange("after the stop", "");
        g.leave();
        return std::string("fine");
    });
    all.wait_for({0, 1});
    p.signal(1, SIGSTOP);
    ::usleep(1600000);   // two heartbeats are missed
    p.signal(1, SIGCONT);
    goes_on.set();
    for (const int r : {0, 1}) BOOST_TEST(p.result(r) == "fine");
}

BOOST_AUTO_TEST_CASE(an_error_of_one_is_the_error_of_all) {
    const auto at = own_addresses(3);
    {
        processes p;
        start_all(p, at, quick(5), [](process_group& g) {
            if (g.rank() == 2) {
                g.progress(7, "reading a batch");
                ::usleep(100000);   // the others wait for it by now
                g.fail("what(): no such file");
            }
            return wait_for_error(g);
        });
        for (int r = 0; r < 3; ++r)
            BOOST_TEST(p.result(r) == "2|worker/2|" + at[2] + "|reading a batch|7|what(): no such file");
    }
    {   // an exception that nobody catches on its way
        processes p;
        start_all(p, at, quick(5), [](process_group& g) {
            ::usleep(100000);
            if (g.rank() == 1) throw std::runtime_error("user's");
            return wait_for_error(g);
        });
        for (const int r : {0, 2}) BOOST_TEST(holds(p.result(r), "an exception ended its work"), p.result(r));
    }
}

BOOST_AUTO_TEST_CASE(a_lost_connection_waits_for_the_true_cause) {
    const auto at = own_addresses(2);
    processes p;
    start_all(p, at, quick(5), [](process_group& g) {
        if (g.rank() == 0) {
            g.link(1).shut_down();
            ::usleep(20000);
            g.fail("out of memory");
            return wait_for_error(g);
        }
        std::byte b{};
        try {
            g.link(0).receive({}, {&b, 1});
            while (!g.link(0).fill()) ::usleep(1000);
        } catch (const cluster_error& e) {
            g.fail(e);
        }
        return wait_for_error(g);
    });
    for (const int r : {0, 1}) BOOST_TEST(holds(p.result(r), "out of memory"), p.result(r));
}

BOOST_AUTO_TEST_CASE(a_member_that_leaves_early_is_missed) {
    const auto at = own_addresses(3);
    processes p;
    start_all(p, at, quick(5), [](process_group& g) {
        if (g.rank() == 1) {
            try {
                g.leave();
            } catch (const cluster_error& e) {
                return std::string(e.what());
            }
            return std::string("left without an error");
        }
        try {
            g.exchange("one more", "");
        } catch (const cluster_error& e) {
            return std::string(e.what());
        }
        return std::string("no error");
    });
    for (int r = 0; r < 3; ++r) BOOST_TEST(holds(p.result(r), "has left the job"), p.result(r));
    // The same on a data connection.
    processes q;
    const auto there = own_addresses(2);
    start_all(q, there, quick(5), [](process_group& g) {
        try {
            if (g.rank() == 1) {
                g.leave();
                return std::string("left without an error");
            }
            std::byte b{};
            g.link(1).receive({}, {&b, 1});
            while (!g.link(1).fill()) ::usleep(1000);
        } catch (const cluster_error& e) {
            g.fail(e);
        }
        return wait_for_error(g);
    });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(q.result(r), "it has left the job"), q.result(r));
}

BOOST_AUTO_TEST_CASE(different_exchanges_fail_on_all_members) {
    const auto at = own_addresses(3);
    processes p;
    start_all(p, at, quick(5), [](process_group& g) {
        try {
            g.exchange(g.rank() == 2 ? "weights" : "losses", "");
        } catch (const cluster_error&) {
        }
        return wait_for_error(g);
    });
    for (int r = 0; r < 3; ++r)
        BOOST_TEST((holds(p.result(r), "'losses'") && holds(p.result(r), "'weights'")), p.result(r));
}

BOOST_AUTO_TEST_CASE(anybody_can_ask_all_to_stop) {
    const auto at = own_addresses(3);
    processes p;
    start_all(p, at, quick(5), [](process_group& g) {
        if (g.rank() == 1) g.ask_all_to_stop("SIGTERM");
        for (int i = 0; i < 40000 && !g.asked(); ++i) ::usleep(1000);
        const std::string why = g.stop_reason();
        g.leave();
        return why;
    });
    for (int r = 0; r < 3; ++r) BOOST_TEST(p.result(r) == "worker/1: SIGTERM");
}

BOOST_AUTO_TEST_CASE(who_lives_but_is_stuck_is_named) {
    const auto at = own_addresses(3);
    processes p;
    cluster_options o = quick(2);
    o.progress_within = 2.5;
    start_all(p, at, o, [](process_group& g) {
        for (std::int64_t step = 0; step < 5; ++step) {
            g.progress(step, "computing");
            ::usleep(50000);
            if (g.rank() == 1 && step == 3) return wait_for_error(g);   // this thread does no more
            try {
                g.exchange("step", "");
            } catch (const cluster_error&) {
                return wait_for_error(g);
            }
        }
        return std::string("no error");
    });
    for (int r = 0; r < 3; ++r) {
        const std::string text = p.result(r);
        BOOST_TEST(holds(text, "|it lives, and has not got on for"), text);
    }
}

BOOST_AUTO_TEST_CASE(a_slow_member_is_seen_and_lives) {
    const auto at = own_addresses(2);
    processes p;
    start_all(p, at, quick(2), [](process_group& g) {
        g.progress(g.rank() == 0 ? 100 : 3, g.rank() == 0 ? "waiting" : "computing slowly");
        ::usleep(3000000);   // longer than a dead one would be given
        const auto s = g.status();
        g.exchange("end", "");
        g.leave();
        return std::to_string(s[0].step) + " " + std::to_string(s[1].step) + " " + s[1].operation + " " +
               (s[1].idle > 1 ? "idle" : "busy");
    });
    for (int r = 0; r < 2; ++r) BOOST_TEST(p.result(r) == "100 3 computing slowly idle");
}

BOOST_AUTO_TEST_CASE(a_clean_end_waits_for_the_last_and_no_longer) {
    const auto at = own_addresses(3);
    processes p;
    cluster_options o = quick(5);
    o.join_within = 200;   // which leave() would wait for somebody who does not leave
    start_all(p, at, o, [](process_group& g) {
        ::usleep(static_cast<useconds_t>(300000 * g.rank()));
        g.leave();
        return std::string("fine");
    });
    BOOST_TEST(p.result(2) == "fine");
    for (int r = 0; r < 2; ++r) BOOST_TEST(p.result(r) == "fine");
}

static std::size_t entries(const char* folder) {
    std::size_t n = 0;
    DIR* d = ::opendir(folder);
    while (::readdir(d)) ++n;
    ::closedir(d);
    return n;
}

BOOST_AUTO_TEST_CASE(many_restarts_leak_nothing) {
    const auto at = own_addresses(2);
    processes p;
    for (int r = 0; r < 2; ++r)
        p.start([&, r] {
            std::size_t before = 0, threads = 0;
            std::size_t in_use = 0;
            ::mallopt(M_ARENA_MAX, 1);   // what every thread has allocated is counted
            for (int i = 0; i < 500; ++i) {
                {
                    process_group g(cluster::of(at, r, quick(10)), {});
                    g.exchange("round", std::to_string(i));
                    g.leave();
                }
                if (i != 299) continue;
                before = entries("/proc/self/fd");
                threads = entries("/proc/self/task");
                in_use = ::mallinfo2().uordblks;
            }
            // 200 lives, at most 80 bytes each: an object of any kind would be more.
            return std::to_string(entries("/proc/self/fd") - before) + " " +
                   std::to_string(entries("/proc/self/task") - threads) + " " +
                   (::mallinfo2().uordblks <= in_use + 200 * 80 ? "steady" : "grown");
        });
    for (int r = 0; r < 2; ++r) BOOST_TEST(p.result(r, 200) == "0 0 steady");
}
