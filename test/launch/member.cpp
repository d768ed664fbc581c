// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include "../../tools/launch/slow_member.hpp"

// What members report is not believed before it is a number: "nan" once made a percentage of its own.
BOOST_AUTO_TEST_CASE(a_rate_that_is_no_number_makes_nobody_slow) {
    std::vector<launch::member> all;
    for (int i = 0; i < 3; ++i) all.emplace_back("worker", i).pid = ::getpid();
    launch::slow_member slow;
    all[0].take_report("step 1 rate 1 busy nan");
    all[1].take_report("step 1 rate nan");
    all[2].take_report("step 1 rate nan busy inf");
    for (const double later : {0., 10., 20.}) BOOST_TEST(!slow.look(all, all[0].reported_at + later));
    BOOST_TEST(all[1].pace == -1);
    BOOST_TEST(all[2].busy == -1);
    BOOST_TEST(all[0].pace == 1);
    for (launch::member& m : all) m.pid = -1;
}
