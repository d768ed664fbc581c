// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE join_trouble
#include <boost/test/unit_test.hpp>
#include <sinter/net/join_trouble.hpp>

// What is told of a peer that could not be joined: the last cause, and the last reason that was given.
using sinter::wire::join_trouble;

BOOST_AUTO_TEST_CASE(a_reason_stays_beside_what_came_after_it) {
    join_trouble t;
    BOOST_TEST((t.empty() && !t.explains() && t.words().empty()));
    t.note("Connection refused", false);
    BOOST_TEST(t.words() == "Connection refused");
    t.note("TLS: unknown ca", true);
    BOOST_TEST(t.words() == "TLS: unknown ca");
    t.note("Connection reset by peer", false);
    BOOST_TEST(t.words() == "Connection reset by peer; before that: TLS: unknown ca");
    t.note("the job's name differs", true);
    BOOST_TEST(t.words() == "the job's name differs");
    BOOST_TEST(t.explains());
    t = {};
    BOOST_TEST(t.empty());
}
