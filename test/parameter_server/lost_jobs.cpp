// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#define BOOST_TEST_MODULE lost_jobs
#include <boost/test/unit_test.hpp>
#include "job.hpp"

// Servers that have lost what they knew of a job, and members that are in the midst of it.
using namespace sinter;
using namespace sinter::server_job;

static void wait_for(const std::atomic<std::int64_t>& x, std::int64_t n) {
    for (int i = 0; i < 60000 && x < n; ++i) ::usleep(1000);
    BOOST_TEST(x >= n);
}

// Before the chief has opened the job, server 0 is lost, and two of three workers are started again. The chief, which
// has made a sum with the processes of before, tells server 0 of it.
BOOST_AUTO_TEST_CASE(sums_of_before_the_opening_are_told_to_a_server_0_that_comes_anew) {
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
