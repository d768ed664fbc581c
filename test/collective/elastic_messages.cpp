// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// waits: until a member that died is missed
#define BOOST_TEST_MODULE elastic_messages
#include <boost/test/unit_test.hpp>
#include <sinter/collective/elastic_job.hpp>
#include <sinter/collective/ring.hpp>
#include <mutex>
#include "../net/processes.hpp"

using namespace sinter;

// Before an elastic job has begun a member says whom it waits for; then all say, once, who is there: the groups that
// are formed within a job say nothing of themselves.
BOOST_AUTO_TEST_CASE(elastic_job_reports_missing_and_joined) {
    const auto at = own_addresses(3);
    processes p;
    const shared_flag waits;
    const auto member = [&](int rank) {
        return [&, rank] {
            std::string all;
            std::mutex mutex;
            on_message([&](message_level, std::string_view text, std::string_view) {
                const std::lock_guard hold(mutex);
                (all += text) += '\n';
                if (rank == 0) waits.set();
            });
            collective::elastic_job j(cluster::of(at, rank, quick(10)), {.model = 1}, &ring::connect, 0);
            const collective::elastic_job::group g = j.begin();
            g.members->barrier();
            const std::lock_guard hold(mutex);
            return all;
        };
    };
    p.start(member(0));
    while (!waits.is_set() && !p.ended(0)) ::usleep(1000);
    for (const int r : {1, 2}) p.start(member(r));
    const std::string there = "is in a job of 3 members, and all are there: worker/0 at " + at[0] + ", worker/1 at " +
                              at[1] + ", worker/2 at " + at[2] + "\n";
    for (int r = 0; r < 3; ++r) {
        const std::string told = p.result(r);
        const std::size_t first = told.find(there);
        BOOST_TEST(first != told.npos, told);
        BOOST_TEST(told.find("all are there", first + there.size()) == told.npos, told);
        if (r == 0)
            BOOST_TEST(holds(told, "worker/0 waits for worker/1 at " + at[1] + ", worker/2 at " + at[2] + " (10 s)"),
                       told);
    }
}
