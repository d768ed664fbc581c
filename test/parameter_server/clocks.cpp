// SPDX-License-Identifier: BSL-1.0
// Clocks, tickets, the push log and sums of parameter servers: arithmetic without values, sockets or threads.
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include <sinter/parameter_server/clocks.hpp>
#include <sinter/parameter_server/push_log.hpp>
#include <sinter/parameter_server/server/reductions.hpp>
#include <sinter/parameter_server/step_tickets.hpp>

using namespace sinter::sharded;
using verdict = clocks::verdict;

namespace {
/// One worker of a simulation: it reads, computes for a while, pushes.
struct actor {
    enum { to_read, computing, pushing, away } now = to_read;
    std::int64_t clock = 0;
    double ready = 0, speed = 1;
};

/// Runs workers of random speeds, some of whom go for good or for a while, and checks at every read that the reader is
/// at most s ahead of whoever is slowest, and that all up to its clock - s - 1 is applied.
void simulate(std::int64_t s, unsigned seed) {
    std::mt19937 random(seed);
    const auto pick = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
    const int n = 2 + static_cast<int>(seed % 4);
    clocks c(update_order::stale(s), n);
    std::vector<actor> actors(static_cast<std::size_t>(n));
    std::vector<std::set<std::int64_t>> pushed(actors.size());
    std::vector<std::vector<int>> applied;   // of each clock, whose pushes
    for (actor& a : actors) a.speed = std::exp(pick(-2, 2));
    std::int64_t reads = 0, most_ahead = 0;
    double now = 0;
    for (int events = 0; events < 3000; ++events) {
        const auto w = static_cast<std::size_t>(random() % actors.size());
        actor& a = actors[w];
        const int i = static_cast<int>(w);
        now += 0.05;
        if (a.now == actor::away) {
            if (random() % 20 != 0) continue;
            c.join(i);
            a.clock = c.next(i);
            a.now = actor::to_read;
        } else if (random() % 400 == 0 && n > 2) {
            c.retire(i);
            a.now = actor::away;
        } else if (a.now == actor::to_read) {
            if (!c.may_read(i)) continue;
            ++reads;
            std::int64_t slowest = a.clock;
            for (std::size_t k = 0; k < actors.size(); ++k)
                if (actors[k].now != actor::away) slowest = std::min(slowest, c.next(static_cast<int>(k)));
            BOOST_REQUIRE(a.clock - slowest <= s);
            BOOST_REQUIRE(static_cast<std::int64_t>(applied.size()) >= a.clock - s);   // all of clocks 0..clock-s-1
            most_ahead = std::max(most_ahead, a.clock - slowest);
            a.now = actor::computing;
            a.ready = now + a.speed;
        } else if (a.now == actor::computing && now >= a.ready) {
            BOOST_REQUIRE((c.push(i, a.clock) == verdict::taken));
            BOOST_REQUIRE(pushed[w].insert(a.clock).second);
            a.clock = c.next(i);
            a.now = actor::to_read;
        }
        while (c.ready()) {
            applied.emplace_back();
            for (int k = 0; k < n; ++k)
                if (c.in_next(k)) applied.back().push_back(k);
            BOOST_REQUIRE(!applied.back().empty());
            c.apply();
        }
    }
    BOOST_TEST(reads > 20);
    BOOST_TEST(c.applied() == static_cast<std::int64_t>(applied.size()));
    if (s > 0 && n > 2) BOOST_TEST(most_ahead > 0);
    // Each push of an applied clock is in it, once.
    for (std::size_t w = 0; w < actors.size(); ++w)
        for (const std::int64_t clock : pushed[w])
            if (clock < c.applied()) {
                const auto& in = applied[static_cast<std::size_t>(clock)];
                BOOST_REQUIRE(std::count(in.begin(), in.end(), static_cast<int>(w)) == 1);
            }
}
} // namespace

BOOST_AUTO_TEST_CASE(nobody_reads_further_ahead_than_the_bound) {
    for (const std::int64_t s : {0, 1, 3, 10})
        for (unsigned seed = 0; seed < 40; ++seed) simulate(s, seed * 11 + static_cast<unsigned>(s));
}

BOOST_AUTO_TEST_CASE(a_dead_worker_blocks_nobody_for_ever) {
    clocks c(update_order::stale(1), 2);
    BOOST_TEST((c.push(0, 0) == verdict::taken));
    BOOST_TEST(c.may_read(0));
    BOOST_TEST((c.push(0, 1) == verdict::taken));
    BOOST_TEST(!c.may_read(0));   // clock 0 waits for worker 1
    BOOST_TEST(!c.ready());
    BOOST_TEST((c.push(0, 2) == verdict::ahead));
    c.retire(1);
    BOOST_TEST(c.ready());
    c.apply();
    BOOST_TEST(c.ready());
    c.apply();
    BOOST_TEST(!c.ready());
    c.join(1);   // it begins where the others are
    BOOST_TEST(c.next(1) == 2);
    BOOST_TEST((c.push(1, 0) == verdict::late));
}

BOOST_AUTO_TEST_CASE(the_first_of_them_make_a_clock_with_backup_workers) {
    clocks c(update_order::sync(1), 3);
    c.push(0, 0);
    BOOST_TEST(!c.ready());
    c.push(2, 0);
    BOOST_TEST(c.ready());
    BOOST_TEST(c.in_next(0));
    BOOST_TEST(!c.in_next(1));
    c.apply();
    BOOST_TEST((c.push(1, 0) == verdict::late));
    BOOST_TEST(c.next(1) == 1);   // it goes on with the others' clock
    BOOST_TEST((c.push(1, 1) == verdict::taken));
    c.push(0, 1);
    BOOST_TEST(c.ready());
    c.apply();
    c.push(1, 2);
    c.push(2, 2);
    c.close();   // while it is being applied it takes no more
    BOOST_TEST((c.push(0, 2) == verdict::late));
    BOOST_TEST(!c.in_next(0));
    c.apply();
    BOOST_TEST(c.next(0) == 3);
    BOOST_TEST((c.push(0, 3) == verdict::taken));
    c.push(1, 3);
    c.apply();
    c.retire(1);   // a backup worker's death changes nothing
    c.push(0, 4);
    BOOST_TEST(!c.ready());
    c.push(2, 4);
    BOOST_TEST(c.ready());
}

BOOST_AUTO_TEST_CASE(clocks_that_were_lost_in_a_restart_are_passed) {
    clocks c(update_order::stale(2), 2);
    c.restore(5);
    c.join(0, 9);
    BOOST_TEST(!c.ready());   // worker 1 may still push clock 5
    c.join(1, 8);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(c.ready());
        c.apply();
    }
    BOOST_TEST(!c.ready());   // clock 8 is worker 1's
    BOOST_TEST((c.push(1, 8) == verdict::taken));
    BOOST_TEST(c.ready());
}

/// Of a process that has said that it is further, and is gone, only what it has pushed counts.
BOOST_AUTO_TEST_CASE(another_process_of_a_worker_begins_where_the_job_is) {
    clocks c(update_order::sync(1), 3);
    c.restore(5);
    for (int w = 0; w < 3; ++w) c.join(w, 9);
    c.forget_claim(1);
    c.join(1);
    BOOST_TEST(c.next(1) == 5);
    BOOST_TEST(!c.ready());   // it may push clock 5, which the others pass
    BOOST_TEST((c.push(1, 5) == verdict::taken));
    c.forget_claim(1);
    c.join(1);
    BOOST_TEST(c.next(1) == 6);
    BOOST_TEST(c.ready());
    BOOST_TEST(c.in_next(1));
}

BOOST_AUTO_TEST_CASE(each_push_is_taken_once_whatever_order_repeats_come_in) {
    std::mt19937 random(3);
    push_log log(2);
    std::int64_t taken = 0;
    std::uint64_t last = 0;
    for (int i = 0; i < 2000; ++i) {   // a client goes on from the first that is not acknowledged, again and again
        const std::uint64_t from = last - std::min<std::uint64_t>(last, random() % 4) + 1, to = last + random() % 4;
        for (std::uint64_t n = from; n <= to; ++n) {
            const bool is_new = n > last;
            BOOST_REQUIRE(log.take(0, 7, n) == is_new);
            taken += is_new;
            last = std::max(last, n);
        }
    }
    BOOST_TEST(last > 1000u);
    BOOST_TEST(taken == static_cast<std::int64_t>(last));
    BOOST_TEST(log.at(0).missing == 0u);
    BOOST_TEST(log.take(0, 8, 1));          // started again
    BOOST_TEST(!log.take(0, 8, 1));
    push_log restored(2);
    restored.restore(log.entries());
    BOOST_TEST(!restored.take(0, 8, 1));
    BOOST_TEST(restored.take(0, 8, 5));     // 2, 3 and 4 were lost with the server
    BOOST_TEST(restored.at(0).missing == 3u);
}

BOOST_AUTO_TEST_CASE(tickets_are_as_many_as_steps) {
    step_tickets t(update_mode::async, 3);
    t.limit(10);
    using answer = step_tickets::answer;
    BOOST_TEST((t.ask(0, 8) == answer::yes));
    BOOST_TEST((t.ask(0, 8) == answer::yes));   // it has one
    BOOST_TEST((t.ask(1, 8) == answer::yes));
    BOOST_TEST((t.ask(2, 8) == answer::not_yet));
    t.give_back(1);                             // it is dead
    BOOST_TEST((t.ask(2, 8) == answer::yes));
    t.give_back(2);
    t.give_back(0);
    BOOST_TEST((t.ask(1, 10) == answer::no));
    step_tickets by_clock(update_mode::clocks, 2);
    by_clock.limit(10);
    BOOST_TEST((by_clock.ask(0, 8, 9, 8) == answer::yes));
    BOOST_TEST((by_clock.ask(0, 8, 10, 8) == answer::not_yet));   // clocks 8 and 9 may update nothing
    BOOST_TEST((by_clock.ask(0, 9, 10, 10) == answer::yes));
    BOOST_TEST((by_clock.ask(0, 10, 11, 11) == answer::no));
}

BOOST_AUTO_TEST_CASE(sums_are_in_a_stated_order_and_kept_for_who_asks_again) {
    for (const auto order : {sum_order::ranks, sum_order::tree}) {
        reductions r(4, order);
        const double x[4] = {1e16, 1, -1e16, 1};
        for (int w = 0; w < 4; ++w) BOOST_TEST(r.give(w, 1, {x[w]}));
        BOOST_TEST(r.finish());
        BOOST_TEST(r.done(1));
        const double by_ranks = ((x[0] + x[1]) + x[2]) + x[3], by_tree = (x[0] + x[1]) + (x[2] + x[3]);
        BOOST_TEST(r.result(1)[0] == (order == sum_order::ranks ? by_ranks : by_tree));
        BOOST_TEST(r.give(2, 1, {5}));   // again: not counted
        BOOST_TEST(!r.any());
        BOOST_TEST(!r.give(2, 3, {5}));
        r.give(0, 2, {1});
        r.give(1, 2, {1, 2});
        BOOST_TEST(!r.finish());
    }
}
