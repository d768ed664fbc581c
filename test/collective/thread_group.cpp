// SPDX-License-Identifier: BSL-1.0
// shows members: groups of some members: operations at the same time as those of others, failures that reach all
// shows members: messages between two members: to oneself, empty, large ones that cross, beside queued operations;
//     another size or tag, a peer that dies, fails or leaves: an error of all that names it
// processors: all
#define BOOST_TEST_MODULE thread_group
#include "support/members.hpp"
#include "support/pairs.hpp"
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

// Under the thread sanitizer each number takes ten times as long: large arrays are those of three members alone, and
// groups those of four.
#if defined(__SANITIZE_THREAD__)
static constexpr bool watched = true;
#else
static constexpr bool watched = false;
#endif

BOOST_AUTO_TEST_CASE(every_operation) {
    for (const int members : {1, 2, 3, 4, 7, 8})
        for (const std::int64_t n : {0, 1, 10, 100, 1000, 10000})
            if (!watched || n < 1000 || members == 3)
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

BOOST_AUTO_TEST_CASE(messages_between_two) {
    for (const int members : {1, 2, 3, 5}) on_threads(members, [](communicator& c) { check_messages(c); });
    check_message_faults(texts_of(on_threads));
}
BOOST_AUTO_TEST_CASE(messages_that_make_no_sense_are_refused) {
    on_threads(2, [](communicator& c) {
        std::vector<std::byte> x(3);
        int refused = 0;
        for (const int peer : {-1, 2})
            try {
                c.send(peer, 0, x);
            } catch (const option_error& e) {
                refused += std::string(e.what()).find("needed 0 to 1") != std::string::npos;
            }
        need(refused == 2, "no member has this rank");
        c.barrier();
    });
}
BOOST_AUTO_TEST_CASE(groups_of_some_members) {
    for (const int members : {1, 2, 3, 4, 7})
        if (!watched || members < 7) on_threads(members, check_groups);
    check_failures_of_groups(texts_of(on_threads));
}
