// SPDX-License-Identifier: BSL-1.0
// shows members: groups of some members: operations at the same time as those of others, failures that reach all
// shows members: messages between two members: to oneself, empty, large ones that cross, beside queued operations;
//     another size or tag, a peer that dies, fails or leaves: an error of all that names it
// shows members: a killed member is an error of the others; other sizes, types or calls are errors before data are
//     used
// needs: distributed
// processors: all
#define BOOST_TEST_MODULE shared_memory
#include "support/member_processes.hpp"
#include "support/pairs_of_processes.hpp"
#include <bit>
#include <boost/test/unit_test.hpp>
#include <sinter/collective/automatic.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/collective/shared_memory.hpp>

// Real processes that pass data through memory: the sums, in the order of the tree, and errors that reach all.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(every_operation) {
    for (const int members : {1, 2, 3, 4})
        in_processes<shared_memory>(members, [](communicator& c) {
            for (const std::int64_t n : {0, 1, 100, 3000, 40000}) check_operations(c, n);
            check_closed_form(c, {0, 1, 10, 100, 1000, 10000, 1000003});
            check_buckets_beside_computing(c);
        });
    in_processes<automatic>(2, [](communicator& c) { check_operations(c, 3000); });
}

BOOST_AUTO_TEST_CASE(differences_are_errors_on_all) {
    check_differences_of_processes<shared_memory>(2);
    check_differences_of_processes<shared_memory>(3);
}

BOOST_AUTO_TEST_CASE(a_killed_member_is_an_error_of_the_others) { check_deaths_of_processes<shared_memory>(); }

// One hash of results for each engine.
template <class Algorithm>
static std::vector<std::string> tree_sums(int members) {
    return texts_of_processes<Algorithm>(members, [](communicator& c) {
        std::uint64_t hash = 0;
        for (const std::int64_t n : {1, 1000, 5000, 300000}) {
            std::vector<float> x(static_cast<std::size_t>(n));
            for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = number_of<float>(c.rank(), i);
            c.wait(c.start({.what = kind::all_reduce_tree}, x.data(), n, n % 3 == 0));
            for (const float v : x) hash = (hash ^ std::bit_cast<std::uint32_t>(v)) * 0x100000001B3u;
        }
        return std::to_string(hash);
    });
}
BOOST_AUTO_TEST_CASE(the_tree_has_the_same_bits_by_every_way) {
    for (const int members : {2, 4}) {
        const auto one = tree_sums<shared_memory>(members), other = tree_sums<ring>(members);
        for (const auto& t : one) BOOST_TEST(t == one.front());
        BOOST_TEST(one == other, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(messages_between_two) {
    for (const int members : {1, 3}) in_processes<shared_memory>(members, [](communicator& c) { check_messages(c); });
    check_deaths_between_messages<shared_memory>();
}
BOOST_AUTO_TEST_CASE(groups_of_some_members) {
    in_processes<shared_memory>(4, check_groups);
    in_processes<automatic>(3, check_groups);
    check_failures_of_groups(runner_of_processes<shared_memory>());
}
