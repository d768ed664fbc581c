// SPDX-License-Identifier: BSL-1.0
// shows servers: no worker of a job that is over is left in the next; lost servers and chiefs
// needs: distributed
// waits: until servers and chiefs are missed
#define BOOST_TEST_MODULE lost_jobs
#include <boost/test/unit_test.hpp>
#include <sinter/parameter_server/calls.hpp>
#include "job.hpp"

// Servers that have lost what they knew of a job, and members that are in the midst of it: either all go on, or all are
// told, so that none of a job that is over is left among those of the next one.
using namespace sinter;
using namespace sinter::server_job;

static void wait_for(const std::atomic<std::int64_t>& x, std::int64_t n) {
    for (int i = 0; i < 60000 && x < n; ++i) ::usleep(1000);
    BOOST_TEST(x >= n);
}

// Before the chief has opened the job, server 0 is lost, and two of three workers are started again. The chief, which
// has made a sum with the processes of before, tells server 0 of it.
BOOST_AUTO_TEST_CASE(restarted_server_0_gets_sums_before_opening) {
    job j{.servers = 2, .workers = 3, .floats = 256, .order = update_order::sync(1)};
    j.order.all_join = true;
    shared_counts& counts = shared_counts::make();
    const auto trains = [&](int w) {
        client c(j.worker(w), j.identity(), j.layout(), {.reconnect_within = 20});
        double x = w + 1;
        c.reduce({&x, 1});
        const std::string sum = std::to_string(static_cast<int>(x));
        ++counts.other[w];
        for (int i = 0; i < 60000 && counts.other[10] == 0; ++i) ::usleep(1000);
        if (w == 0) j.begin(c);
        c.wait_until_open();
        pusher mine(c, j, w);
        if (c.may_step()) mine.push(counts);
        c.reduce({&x, 1});
        c.leave();
        return sum;
    };
    processes p;
    int server[2], worker[3];
    for (int s = 0; s < 2; ++s) server[s] = p.start([&, s] { return j.serve(s); });
    for (int w = 0; w < 3; ++w) worker[w] = p.start([&, w] { return trains(w); });
    for (int w = 0; w < 3; ++w) wait_for(counts.other[w], 1);
    for (const int i : {worker[1], worker[2], server[0]}) p.signal(i, SIGKILL), p.result(i);
    server[0] = p.start([&] { return j.serve(0); });
    for (int w = 1; w < 3; ++w) worker[w] = p.start([&, w] { return trains(w); });
    for (int w = 1; w < 3; ++w) wait_for(counts.other[w], 2);   // they have the sum of before
    counts.other[10] = 1;
    for (const int w : worker) BOOST_TEST(p.result(w) == "6", p.result(w));
    for (const int s : server) BOOST_TEST(holds(p.result(s), "step 1 "), p.result(s));
}

// One server is in the midst of a job of which the other has lost its part, and the chief is another process: it must
// not go on with values that nobody has given.
BOOST_AUTO_TEST_CASE(a_chief_that_finds_a_part_of_a_job_lost_ends_it) {
    job j{.servers = 2, .workers = 1, .floats = 256};
    j.options.join_within = 60;   // server 1 waits for so long for a first worker
    shared_counts& counts = shared_counts::make();
    const auto trains = [&] {
        client c(j.worker(0), j.identity(), j.layout());
        j.begin(c);
        pusher mine(c, j, 0);
        for (;;) mine.push(counts), ::usleep(1000);
        return std::string();
    };
    processes p;
    int server[2];
    for (int s = 0; s < 2; ++s) server[s] = p.start([&, s] { return j.serve(s); });
    int chief = p.start(trains);
    wait_for(counts.acknowledged[0], 5);
    for (const int i : {chief, server[0]}) p.signal(i, SIGKILL), p.result(i);
    server[0] = p.start([&] { return j.serve(0); });
    chief = p.start(trains);
    BOOST_TEST(holds(p.result(chief), "ps/0"), p.result(chief));
    BOOST_TEST(holds(p.result(chief), "what it kept is lost"), p.result(chief));
    BOOST_TEST(holds(p.result(server[1]), "what it kept is lost"), p.result(server[1]));
    p.signal(server[0], SIGKILL);
}

// A server fails while a worker waits for nothing there: it is told with its next sign of life.
BOOST_AUTO_TEST_CASE(idle_worker_learns_of_server_failure) {
    const job j{.servers = 1, .workers = 2, .floats = 256, .options = quick(2)};
    shared_counts& counts = shared_counts::make();
    const shared_flag server_ended;
    processes p;
    const int server = p.start([&] { return j.serve(0); });
    const auto joins = [&](int w) {
        client c(j.worker(w), j.identity(), j.layout(), {.reconnect_within = 3});
        if (w == 0) j.begin(c);
        c.wait_until_open();
        ++counts.other[w];
        wait_for(counts.other[1 - w], 1);
        if (w == 1) return c.fail("a disk is full"), std::string("failed");
        server_ended.wait();
        c.may_step();
        return std::string("was not told");
    };
    const int idle = p.start([&] { return joins(0); }), fails = p.start([&] { return joins(1); });
    BOOST_TEST(p.result(fails) == "failed");
    BOOST_TEST(holds(p.result(server), "a disk is full"), p.result(server));
    server_ended.set();
    BOOST_TEST(holds(p.result(idle), "a disk is full"), p.result(idle));
}

// A worker dies when server 0 has its push and server 1 has it in part: server 0 makes that step without the third
// worker, which goes on behind it. Server 1 must not wait for what the third worker never pushes.
BOOST_AUTO_TEST_CASE(a_worker_dies_between_its_pushes_to_two_servers) {
    // More than the sockets' buffers hold, where server 1 is stopped.
    job j{.servers = 2, .workers = 3, .floats = 2 << 20, .order = update_order::sync(1), .options = quick(3)};
    j.order.all_join = true;
    shared_counts& counts = shared_counts::make();
    std::atomic<std::int64_t>&stopped = counts.other[10], &half_pushed = counts.other[11], &killed = counts.other[12];
    const auto trains = [&](int w) {
        client c(j.worker(w), j.identity(), j.layout());
        if (w == 0) j.begin(c);
        c.wait_until_open();
        ++counts.other[w];
        pusher mine(c, j, w);
        if (w == 2) {
            wait_for(stopped, 1);
            mine.push(counts);
            return std::string("server 1 was not stopped");
        }
        constexpr const char* staged = R"("worker/2", "applied": 0, "staged": 1)";
        while (w == 0 && !holds(c.call(0, parameter_servers::calls::get_counters()).json, staged)) ::usleep(1000);
        half_pushed += w == 0;
        wait_for(w == 0 ? killed : counts.acknowledged[0], 1);
        c.pass_clocks();
        if (w == 1) c.may_step(), c.pass_clocks();   // server 0 has made step 0 without it
        mine.push(counts);
        if (w == 0) mine.push(counts);   // both make step 1
        c.wait_for_clock();
        const std::string all = values_of(c, j);
        c.leave();
        return all;
    };
    processes p;
    int server[2], worker[3];
    for (int s = 0; s < 2; ++s) server[s] = p.start([&, s] { return j.serve(s); });
    for (int w = 0; w < 3; ++w) worker[w] = p.start([&, w] { return trains(w); });
    for (int w = 0; w < 3; ++w) wait_for(counts.other[w], 1);
    p.signal(server[1], SIGSTOP);
    stopped = 1;
    wait_for(half_pushed, 1);
    p.signal(worker[2], SIGKILL);
    BOOST_TEST(p.result(worker[2]) == "KILLED");
    p.signal(server[1], SIGCONT);
    killed = 1;
    for (int w = 0; w < 2; ++w) BOOST_TEST(p.result(worker[w], 30) == "values 2 2", p.result(worker[w]));
    for (const int s : server) BOOST_TEST(holds(p.result(s, 30), "step 2 "), p.result(s));
}

// Servers that are older than join_within do not end the moment that their only worker has died.
BOOST_AUTO_TEST_CASE(the_only_worker_is_started_again) {
    job j{.servers = 2, .workers = 1, .floats = 256, .options = quick(1)};
    j.options.join_within = 3;
    shared_counts& counts = shared_counts::make();
    const auto trains = [&](int pushes) {
        client c(j.worker(0), j.identity(), j.layout());
        j.begin(c);
        pusher mine(c, j, 0);
        for (int k = 0; k < pushes; ++k) mine.push(counts), ::usleep(1000);
        c.leave();
        return std::string("left");
    };
    processes p;
    int server[2];
    for (int s = 0; s < 2; ++s) server[s] = p.start([&, s] { return j.serve(s); });
    const int before = p.start([&] { return trains(1'000'000); });
    wait_for(counts.acknowledged[0], 5);
    ::sleep(5);
    p.signal(before, SIGKILL), p.result(before);
    const int now = p.start([&] { return trains(5); });
    BOOST_TEST(p.result(now) == "left", p.result(now));
    for (const int s : server) BOOST_TEST(holds(p.result(s), "step "), p.result(s));
}

// Both copies are lost, and the chief is another process, which begins anew. A worker of before does not stay among
// those of the new job, whose values are others.
BOOST_AUTO_TEST_CASE(both_copies_are_lost_and_the_chief_begins_anew) {
    const job j{.servers = 2, .workers = 2, .floats = 256, .options = quick(2), .replicas = 2};
    shared_counts& counts = shared_counts::make();
    const auto trains = [&](int w, bool opens) {
        client c(j.worker(w), j.identity(), j.layout(), {.reconnect_within = 30, .replicas = 2});
        while (!opens) ::usleep(1000);
        if (w == 0) j.begin(c);
        c.wait_until_open();
        for (pusher mine(c, j, w);; ::usleep(1000)) mine.push(counts);
        return std::string();
    };
    processes p;
    int server[2];
    for (int s = 0; s < 2; ++s) server[s] = p.start([&, s] { return j.serve(s); });
    int chief = p.start([&] { return trains(0, true); });
    const int other = p.start([&] { return trains(1, true); });
    for (int w = 0; w < 2; ++w) wait_for(counts.acknowledged[w], 5);
    for (const int i : {chief, server[0], server[1]}) p.signal(i, SIGKILL), p.result(i);
    for (int s = 0; s < 2; ++s) server[s] = p.start([&, s] { return j.serve(s); });
    chief = p.start([&] { return trains(0, false); });
    BOOST_TEST(holds(p.result(other), "both copies of what it kept are lost"), p.result(other));
    for (const int i : {chief, server[0], server[1]}) p.signal(i, SIGKILL);
}

// A server and the chief die together: the new chief cannot say whether the second copy of what that server led is
// whole. The other server does not stay for ever with the part that it leads, however often workers come.
BOOST_AUTO_TEST_CASE(a_server_and_the_chief_die_together) {
    job j{.servers = 2, .workers = 2, .floats = 256, .options = quick(1), .replicas = 2};
    j.options.join_within = 3;
    shared_counts& counts = shared_counts::make();
    const auto trains = [&](int w) {   // again and again, as in a cluster
        while (!counts.enough) try {
                client c(j.worker(w), j.identity(), j.layout(), {.reconnect_within = 3, .replicas = 2});
                if (w == 0) j.begin(c);
                c.wait_until_open();
                for (pusher mine(c, j, w);; ::usleep(1000)) mine.push(counts);
            } catch (const error&) {
            }
        return std::string("enough");
    };
    processes p;
    int server[2];
    for (int s = 0; s < 2; ++s) server[s] = p.start([&, s] { return j.serve(s); });
    int chief = p.start([&] { return trains(0); });
    const int other = p.start([&] { return trains(1); });
    for (int w = 0; w < 2; ++w) wait_for(counts.acknowledged[w], 5);
    for (const int i : {chief, server[1]}) p.signal(i, SIGKILL), p.result(i);
    server[1] = p.start([&] { return j.serve(1); });
    chief = p.start([&] { return trains(0); });
    for (const int s : server) BOOST_TEST(holds(p.result(s, 30), "nobody leads part"), p.result(s));
    counts.enough = true;
    for (const int w : {chief, other}) p.signal(w, SIGKILL);
}
