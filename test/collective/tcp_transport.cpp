// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
#define BOOST_TEST_MODULE tcp_transport
#include "support/linked_members.hpp"
#include <boost/test/unit_test.hpp>

// Members within one process over TCP: frames with and without a key.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

static auto connected(algorithm a, bool secret) {
    return [=](int members, const std::function<void(communicator&)>& f) {
        const auto all = connected_by_links(members, a, secret, members == 2);
        on_members(members, [&](int r) { f(*all[static_cast<std::size_t>(r)]); });
    };
}

BOOST_AUTO_TEST_CASE(every_operation) {
    for (const int members : {1, 2, 3, 4})
        for (const std::int64_t n : {0, 100, 3000})
            connected(algorithm::automatic, members == 2)(members, [&](communicator& c) { check_operations(c, n); });
}
BOOST_AUTO_TEST_CASE(long_sums_by_ring_and_by_halving) {
    for (const algorithm a : {algorithm::ring, algorithm::halving_doubling})
        for (const int members : {2, 3, 4})
            connected(a, true)(members, [](communicator& c) { check_closed_form(c, {300001, 1 << 20}); });
}
BOOST_AUTO_TEST_CASE(differences_are_errors_on_all) {
    for (const algorithm a : {algorithm::ring, algorithm::halving_doubling}) check_differences(connected(a, true));
}
BOOST_AUTO_TEST_CASE(other_roots_are_errors_on_all) { check_roots(connected(algorithm::ring, false)); }
BOOST_AUTO_TEST_CASE(what_one_member_throws_reaches_all) { check_failures(connected(algorithm::ring, false)); }
BOOST_AUTO_TEST_CASE(buckets_beside_computing) {
    for (const int members : {2, 3}) connected(algorithm::automatic, true)(members, check_buckets_beside_computing);
}
