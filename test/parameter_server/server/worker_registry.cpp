// SPDX-License-Identifier: BSL-1.0
// Which workers a server knows, and who of them is there.
#include <boost/test/unit_test.hpp>
#include <random>
#include <sinter/parameter_server/server/worker_registry.hpp>

using namespace sinter::parameter_servers;
using presence = worker_presence;

BOOST_AUTO_TEST_CASE(workers_come_and_go) {
    worker_registry r(3, true);
    BOOST_TEST(r.nobody_came());
    BOOST_TEST(r.lives(r.at(0)));   // it is waited for
    BOOST_TEST((r.comes(1) == presence::expected));
    BOOST_TEST(!r.nobody_came());
    BOOST_TEST(!r.has_others(1));
    BOOST_TEST(r.has_others(0));
    r.rests(1);
    r.is_served(1);   // it comes again, and rests yet
    BOOST_TEST(r.at(1).is(presence::resting));
    BOOST_TEST(r.at(1).is_in_job());
    r.dies(2, 12.5);
    BOOST_TEST(r.died() == 12.5);
    BOOST_TEST(!r.lives(r.at(2)));
    r.is_served(2);
    BOOST_TEST(r.at(2).is(presence::here));
    BOOST_TEST((r.comes(2) == presence::here));
    BOOST_TEST(r.in_job() == 2);
    BOOST_TEST(!r.any_left());
    r.leaves(2);
    BOOST_TEST(r.any_left());
    r.comes(2);
    BOOST_TEST(r.any_left());   // whatever comes after
    r.never_came(0);
    BOOST_TEST(!r.lives(r.at(0)));
    BOOST_TEST(r.count(presence::never_came) == 1);
}
BOOST_AUTO_TEST_CASE(who_has_batches_of_its_own_is_not_waited_for_before_it_comes) {
    worker_registry r(2, false);
    BOOST_TEST(!r.lives(r.at(0)));
    r.comes(0);
    BOOST_TEST(r.lives(r.at(0)));
}
BOOST_AUTO_TEST_CASE(who_is_away_has_no_thread_or_an_end_that_is_closed) {
    worker_registry r(5, true);
    for (int w = 0; w < 4; ++w) r.comes(w), r.at(w).served = w != 1;
    r.dies(3, 1);
    const auto nobody = [](const registered_worker&) { return false; };
    BOOST_TEST(r.away(nobody) == 2);   // 1 and 3; worker 4 has not come yet
    BOOST_TEST(r.away([&](const registered_worker& k) { return &k == &r.at(0); }) == 3);
    BOOST_TEST(r.any_served());
    BOOST_TEST(r.any_at_work());
    for (int w = 0; w < 4; ++w) r.leaves(w);
    BOOST_TEST(!r.any_at_work());
    r.at(4).arriving = 1;
    BOOST_TEST(r.any_at_work());
}
BOOST_AUTO_TEST_CASE(counts_are_those_of_a_look_at_each) {
    std::mt19937 random(7);
    worker_registry r(6, true);
    std::vector<presence> all(6, presence::expected);   // by hand
    for (int event = 0; event < 3000; ++event) {
        const int w = static_cast<int>(random() % 6);
        presence& p = all[static_cast<std::size_t>(w)];
        switch (random() % 5) {
            case 0: r.comes(w), p = presence::here; break;
            case 1: r.rests(w), p = presence::resting; break;
            case 2: r.leaves(w), p = presence::left; break;
            case 3: r.dies(w, event), p = presence::dead; break;
            default: r.set(w, presence::expected), p = presence::expected;
        }
        int in_job = 0, others = 0;
        for (int i = 0; i < 6; ++i) {
            const presence q = all[static_cast<std::size_t>(i)];
            BOOST_REQUIRE((r.at(i).now() == q));
            in_job += q == presence::here || q == presence::resting;
            others += i != w && (q == presence::here || q == presence::resting);
        }
        BOOST_REQUIRE(r.in_job() == in_job);
        BOOST_REQUIRE(r.has_others(w) == (others > 0));
        BOOST_REQUIRE(r.count(presence::dead) == std::count(all.begin(), all.end(), presence::dead));
    }
}
BOOST_AUTO_TEST_CASE(steps_per_second_are_of_the_time_since_they_were_measured_last) {
    worker_registry r(1, true);
    r.at(0).counters.applied = 30;
    r.measure(10);
    BOOST_TEST(r.counters()[0].steps_per_second == 3);
    r.at(0).counters.applied = 35;
    r.measure(10);
    BOOST_TEST(r.counters()[0].steps_per_second == 0.5);
}
