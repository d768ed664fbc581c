// SPDX-License-Identifier: BSL-1.0
// What the two copies of a shard are to each other: epochs, who leads, who follows. No sockets.
#include <boost/test/unit_test.hpp>
#include <random>
#include <sinter/parameter_server/server/replication.hpp>

using namespace sinter::parameter_servers;

BOOST_AUTO_TEST_CASE(a_shard_that_one_server_keeps_leads_for_ever) {
    const replication r;
    BOOST_TEST(r.leads());
    BOOST_TEST(r.epoch() == 0u);
    BOOST_TEST(!r.stream());
    BOOST_TEST(!r.is_led_by_nobody(100, 10));
}
BOOST_AUTO_TEST_CASE(two_copies_from_their_beginning_to_the_loss_of_one) {
    replication a, b;
    a.begin_twice(), b.begin_twice();
    BOOST_TEST(!a.may_lead(2));
    BOOST_TEST(a.may_lead(1));
    BOOST_TEST(a.is_first_of_all(1));
    a.lead(1);
    BOOST_TEST(a.leads());
    BOOST_TEST(a.may_be_followed(b.note()));
    a.begin_copying();
    BOOST_TEST(!a.may_be_followed(b.note()));   // by one at a time
    a.end_copying();
    const std::uint64_t seen = a.view();
    BOOST_TEST(!a.was_followed());
    BOOST_TEST(a.begin_epoch_with_follower() != nullptr);
    BOOST_TEST(a.view() > seen);
    BOOST_TEST(a.was_followed());
    b.follow(a.epoch());
    BOOST_TEST(b.epoch() == 2u);
    BOOST_TEST(!a.may_be_followed(b.note()));   // it is
    BOOST_TEST(!b.may_lead(2));
    BOOST_TEST(b.may_lead(3));
    BOOST_TEST(!b.is_first_of_all(3));
    // The leader loses its follower, or the follower its leader: either may lead, as the chief says.
    a.lose_follower(5);
    BOOST_TEST((a.role() == copy_role::cut_off));
    BOOST_TEST(!a.stream());
    BOOST_TEST(a.may_lead(3));
    b.lead(3);
    a.wait_to_follow();
    BOOST_TEST(!a.may_lead(4));   // what it has is no whole copy of anything
    BOOST_TEST(b.may_be_followed(a.note()));
    replication anew;   // one that claims an epoch which this leader has not come to
    anew.begin_twice();
    anew.follow(9);
    BOOST_TEST(!b.may_be_followed(anew.note()));
}
BOOST_AUTO_TEST_CASE(a_copy_that_nobody_leads_does_not_wait_for_ever) {
    replication r;
    r.begin_twice();
    r.linked(100);
    BOOST_TEST(!r.is_done_unled(130, 30));
    BOOST_TEST(r.is_done_unled(131, 30));
    r.connect(4);
    BOOST_TEST(!r.is_done_unled(131, 30));
    r.disconnect(140, true);
    BOOST_TEST(r.leader_connection() == -1);
    BOOST_TEST(!r.is_done_unled(150, 30));
    r.connect(4);
    r.disconnect(160, false);   // what answered does not lead
    BOOST_TEST(r.is_done_unled(171, 30));
    BOOST_TEST(!r.is_led_by_nobody(171, 5));   // nobody asks for it
    r.asked(170);
    BOOST_TEST(r.is_led_by_nobody(171, 5));
    r.end();
    BOOST_TEST(!r.is_led_by_nobody(171, 5));
    BOOST_TEST(r.is_done_unled(0, 30));
}
BOOST_AUTO_TEST_CASE(connections_are_those_that_are_open) {
    replication r;
    r.add_connection(3);
    r.connect(5);
    r.add_connection(7);
    BOOST_TEST(r.connections() == (std::vector<int>{3, 5, 7}), boost::test_tools::per_element());
    r.disconnect(0, false);
    r.remove_connection(3);
    BOOST_TEST(r.connections() == (std::vector<int>{7}), boost::test_tools::per_element());
}
/// Whatever comes in whatever order: only who leads has a stream, epochs do not fall while a copy leads by the chief's
/// word, and who was served learns of each change.
BOOST_AUTO_TEST_CASE(whatever_comes_only_who_leads_is_followed) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        replication r;
        r.begin_twice();
        for (int event = 0; event < 1000; ++event) {
            const bool led = r.leads(), followed = r.stream() != nullptr;
            const std::uint64_t epoch = r.epoch(), view = r.view();
            bool changes = true;
            switch (random() % 6) {
                case 0: {
                    const std::uint64_t next = epoch + random() % 3;
                    changes = r.may_lead(next) && !led;
                    if (!changes) break;
                    r.lead(next);
                    BOOST_REQUIRE(r.epoch() == epoch + 1);
                    break;
                }
                case 1: r.wait_to_follow(); break;
                case 2:
                    changes = r.may_be_followed({});
                    if (!changes) break;
                    r.begin_epoch_with_follower();
                    BOOST_REQUIRE(r.epoch() == epoch + 1);
                    break;
                case 3:
                    changes = followed;
                    if (changes) r.lose_follower(event);
                    break;
                default:
                    changes = false;
                    if (r.role() == copy_role::waiting) r.follow(epoch + 1);
            }
            BOOST_REQUIRE(r.view() == view + changes);
            BOOST_REQUIRE((r.stream() == nullptr || r.leads()));
            BOOST_REQUIRE(r.epoch() >= epoch);
            BOOST_REQUIRE(r.note().followed == (r.stream() != nullptr));
        }
    }
}
