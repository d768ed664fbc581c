// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE join_failure
#include <boost/test/unit_test.hpp>
#include <sinter/net/join_failure.hpp>

// What is told of a peer that could not be joined: the last cause, and the last reason that was given.
using sinter::wire::join_failure;

BOOST_AUTO_TEST_CASE(a_reason_stays_beside_what_came_after_it) {
    join_failure t;
    BOOST_TEST((t.empty() && !t.has_reason() && t.text().empty()));
    t.note("Connection refused", false);
    BOOST_TEST(t.text() == "Connection refused");
    t.note("TLS: unknown ca", true);
    BOOST_TEST(t.text() == "TLS: unknown ca");
    t.note("Connection reset by peer", false);
    BOOST_TEST(t.text() == "Connection reset by peer; before that: TLS: unknown ca");
    t.note("the job's name differs", true);
    BOOST_TEST(t.text() == "the job's name differs");
    BOOST_TEST(t.has_reason());
    t = {};
    BOOST_TEST(t.empty());
}
