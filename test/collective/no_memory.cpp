// SPDX-License-Identifier: BSL-1.0
// shows members: an allocation fails while an error is reported: all have an error, nobody waits for ever
// needs: distributed
// waits: until those that are told nothing give up
// alone: its operator new
#define BOOST_TEST_MODULE no_memory
#include "net/processes.hpp"
#include "support/failing_allocations.hpp"
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <sinter/collective/ring.hpp>

// One allocation of one member fails, each one in its turn, while it learns of an error or tells of one. It gets an
// error, and so do the others; nobody waits for ever, whatever it calls afterwards.
using namespace sinter;
using namespace sinter::collective;

namespace {

std::string learned(communicator& c) {
    double x[3] = {1, 2, 3};
    try {
        for (;;) c.all_reduce(span<double>(x, 3));
    } catch (const std::exception& e) {
        return e.what();
    }
}
/// Member 1's n-th allocation within `f(communicator)` fails. What the others have learned; whether it was one.
template <class F>
bool one_fails(int members, bool last_dies, long n, F f) {
    const auto at = own_addresses(members);
    processes job;
    for (int r = 0; r < members; ++r)
        job.start([&, r]() -> std::string {
            const auto c = ring::connect(cluster::of(at, r, quick()), wire::identity{});
            c->barrier();
            if (last_dies && r == members - 1) ::raise(SIGKILL);
            if (r != 1) return learned(*c);
            test::fail_at = n;
            try {
                f(*c);
            } catch (const std::bad_alloc&) {   // the text of what was learned
            }
            const bool failed = test::fail_at.exchange(-1) < 0;
            c->fail("it was told twice");   // what a program may do next
            learned(*c);
            return failed ? "failed" : "enough";
        });
    const std::string said = job.result(1);
    BOOST_TEST((said == "failed" || said == "enough" || said == "KILLED"), said);   // by std::terminate, in a thread
    for (int r = 0; r < members - (last_dies ? 1 : 0); ++r)
        if (r != 1) {
            const std::string other = job.result(r);
            BOOST_TEST((other != "HUNG" && other.size() > 4), other);
        }
    return said != "enough";
}

} // namespace

BOOST_AUTO_TEST_CASE(while_it_reports_an_error) {
    long n = 0;
    while (n < 200 && one_fails(2, false, n, [](communicator& c) { c.fail("the data are gone"); })) ++n;
    BOOST_TEST(n > 3);
    BOOST_TEST(n < 200);
}
BOOST_AUTO_TEST_CASE(while_it_learns_of_a_death) {
    long n = 0;
    while (n < 200 && one_fails(3, true, n, [](communicator& c) { learned(c); })) ++n;
    BOOST_TEST(n > 3);
    BOOST_TEST(n < 200);
}
