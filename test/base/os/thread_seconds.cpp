// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE thread_seconds
#include <boost/test/unit_test.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/os/thread_seconds.hpp>
#include <thread>

using namespace sinter::base;

// A thread that computes has a processor for a while; one that waits has none.
BOOST_AUTO_TEST_CASE(computing_counts_and_waiting_does_not) {
    const double before = thread_seconds();
    while (thread_seconds() - before < 0.02) {}   // as much as there is to be had: it ends
    BOOST_TEST(thread_seconds() - before >= 0.02);

    const double begun = monotonic_seconds(), had = thread_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    BOOST_TEST(thread_seconds() - had < 0.5 * (monotonic_seconds() - begun));
}
BOOST_AUTO_TEST_CASE(each_thread_has_its_own) {
    const double before = thread_seconds();
    while (thread_seconds() - before < 0.02) {}
    double of_another = 1;
    std::thread([&] { of_another = thread_seconds(); }).join();
    BOOST_TEST(of_another < 0.02);
}
