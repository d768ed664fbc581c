// SPDX-License-Identifier: BSL-1.0
// shows members: groups of some members: operations at the same time as those of others, failures that reach all
// shows members: messages between two members: to oneself, empty, large ones that cross, beside queued operations;
//     another size or tag, a peer that dies, fails or leaves: an error of all that names it
// shows members: a killed member is an error of the others; other sizes, types or calls are errors before data are
//     used
// needs: distributed
// processors: 2
#define BOOST_TEST_MODULE tcp
#include "support/member_processes.hpp"
#include "support/pairs_of_processes.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/ring.hpp>

// Real processes, connected by TCP: the sums, and errors that reach all of them.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(every_operation) {
    for (const int members : {1, 2, 3, 4})
        in_processes<ring>(members, [](communicator& c) {
            for (const std::int64_t n : {0, 1, 100, 3000}) check_operations(c, n);
            check_closed_form(c, {0, 1, 10, 100, 1000, 10000, 1000003});
            check_buckets_beside_computing(c);
        });
    for (const int members : {2, 3, 4})
        in_processes<halving_doubling>(members, [](communicator& c) {
            for (const std::int64_t n : {0, 1, 100, 3000}) check_operations(c, n);
            check_closed_form(c, {0, 1, 10, 100, 1000, 10000, 1000003});
        });
}

BOOST_AUTO_TEST_CASE(differences_are_errors_on_all) {
    check_differences_of_processes<ring>(2);
    check_differences_of_processes<ring>(3);
    check_differences_of_processes<halving_doubling>(4);
}

BOOST_AUTO_TEST_CASE(a_killed_member_is_an_error_of_the_others) {
    check_deaths_of_processes<ring>();
    check_deaths_of_processes<halving_doubling>();
}

BOOST_AUTO_TEST_CASE(messages_between_two) {
    for (const int members : {1, 2, 3}) in_processes<ring>(members, [](communicator& c) { check_messages(c); });
    check_message_faults(runner_of_processes<ring>());
    check_deaths_between_messages<ring>();
}
BOOST_AUTO_TEST_CASE(a_member_that_leaves_sends_nothing_more) { check_members_that_leave<ring>(); }
BOOST_AUTO_TEST_CASE(groups_of_some_members) {
    for (const int members : {1, 3, 4}) in_processes<ring>(members, check_groups);
    check_failures_of_groups(runner_of_processes<halving_doubling>());
}
