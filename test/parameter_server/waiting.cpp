// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// waits: until somebody is told whom it waits for
#define BOOST_TEST_MODULE parameter_server_waiting
#include <boost/test/unit_test.hpp>
#include "job.hpp"

// What servers and workers tell an operator: whom they wait for, and that a worker has joined.
using namespace sinter;
using sinter::server_job::job;

namespace {

/// What `work` says until it has said `last`, which is set in `said` then.
std::string taken(const std::string& last, const shared_flag& said, const std::function<void()>& work) {
    std::string all;
    std::mutex mutex;
    on_message([&](message_level, std::string_view text, std::string_view place) {
        const std::lock_guard hold(mutex);
        (((all += place) += "|") += text) += '\n';
        if (holds(all, last)) said.set();
    });
    work();
    const std::lock_guard hold(mutex);
    return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(servers_and_workers_report_whom_they_wait_for) {
    const job j{.servers = 1, .workers = 1, .floats = 64, .options = quick(5)};
    processes p;
    const shared_flag worker_waits, server_waits, joined;
    const int worker = p.start([&] {
        return taken("waits for ps/0", worker_waits, [&] {
            parameter_servers::client c(j.worker(0), j.identity(), j.layout(), {});
            j.begin(c, 1);
            c.leave();
        });
    });
    while (!worker_waits.is_set() && !p.ended(worker)) ::usleep(1000);
    const int server = p.start([&] { return j.serve(0); });
    const std::string told = p.result(worker);
    BOOST_TEST(holds(told, "worker/0|worker/0 waits for ps/0 at " + j.at[1] + " (10 s)"), told);
    BOOST_TEST(holds(told, "worker/0|worker/0, one of 1 that train, has joined the servers: ps/0 at " + j.at[1]), told);
    BOOST_TEST(holds(p.result(server), "step "));

    const int lonely = p.start([&] {
        return taken("waits for worker/0", server_waits, [&] { j.serve(0); });
    });
    while (!server_waits.is_set() && !p.ended(lonely)) ::usleep(1000);
    const int late = p.start([&] {
        parameter_servers::client c(j.worker(0), j.identity(), j.layout(), {});
        j.begin(c, 1);
        c.leave();
        return std::string("left");
    });
    BOOST_TEST(p.result(late) == "left");
    const std::string heard = p.result(lonely);
    BOOST_TEST(holds(heard, "ps/0|ps/0 waits for worker/0 (10 s)"), heard);
}
