// SPDX-License-Identifier: BSL-1.0
// processors: 2
#define BOOST_TEST_MODULE thread_group
#include "support/members.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/collective/thread_group.hpp>

// Members that are threads: every operation against a sum written otherwise, and errors on all members.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

static void on_threads(int n, const std::function<void(communicator&)>& f) {
    thread_group group(n);
    on_members(n, [&](int r) { f(group.member(r)); });
}

BOOST_AUTO_TEST_CASE(every_operation) {
    for (const int members : {1, 2, 3, 4, 7, 8})
        for (const std::int64_t n : {0, 1, 10, 100, 1000, 10000})
            on_threads(members, [&](communicator& c) { check_operations(c, n); });
}

BOOST_AUTO_TEST_CASE(the_grid_of_gloo) {
    for (const int members : {1, 2, 4, 7}) on_threads(members, [&](communicator& c) { check_closed_form(c); });
}

BOOST_AUTO_TEST_CASE(differences_are_errors_on_all) {
    check_differences([](int n, const std::function<void(communicator&)>& f) { on_threads(n, f); });
}

BOOST_AUTO_TEST_CASE(other_roots_are_errors_on_all) {
    check_roots([](int n, const std::function<void(communicator&)>& f) { on_threads(n, f); });
}

BOOST_AUTO_TEST_CASE(what_one_member_throws_reaches_all) {
    check_failures([](int n, const std::function<void(communicator&)>& f) { on_threads(n, f); });
}

BOOST_AUTO_TEST_CASE(buckets_beside_computing) { on_threads(3, check_buckets_beside_computing); }
