// SPDX-License-Identifier: BSL-1.0
// shows network: gloo's grid of all-reduces with its closed form; what one member throws reaches all
// processors: 2
#define BOOST_TEST_MODULE algorithms
#include "support/members.hpp"
#include "support/memory_transport.hpp"
#include <boost/test/unit_test.hpp>

// Ring, halving and doubling, and trees over mailboxes in memory: the sums, their order, and errors on all members.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

static constexpr algorithm all_algorithms[] = {algorithm::ring, algorithm::halving_doubling, algorithm::automatic};

/// `piece`: bytes. `capacity`: frames that are sent before anybody awaits them.
static auto connected(algorithm a, std::int64_t piece, std::size_t capacity) {
    return [=](int members, const std::function<void(communicator&)>& f) {
        const auto all = connected_by_mailboxes(members, a, piece, capacity);
        on_members(members, [&](int r) { f(*all[static_cast<std::size_t>(r)]); });
    };
}

// gloo/test/allreduce_test.cc: segments of at most 128 bytes.
BOOST_AUTO_TEST_CASE(the_grid_of_gloo) {
    for (const algorithm a : all_algorithms)
        for (const int members : {1, 2, 4, 7})
            for (const std::size_t capacity : {0u, 3u})
                connected(a, 128, capacity)(members, [](communicator& c) { check_closed_form(c); });
}
BOOST_AUTO_TEST_CASE(the_grid_of_gloo_for_floats) {
    for (const algorithm a : all_algorithms)
        for (int members = 1; members <= 15; ++members)
            connected(a, 1 << 18, 1)(members, [](communicator& c) { check_closed_form_of_floats(c); });
}

BOOST_AUTO_TEST_CASE(every_operation) {
    for (const algorithm a : all_algorithms)
        for (const int members : {1, 2, 3, 4, 5, 8})
            for (const std::int64_t n : {0, 1, 17, 100, 1000})
                connected(a, n == 1000 ? 200 : 4096, static_cast<unsigned>(members) % 3)(
                    members, [&](communicator& c) { check_operations(c, n); });
}

BOOST_AUTO_TEST_CASE(the_tree_has_the_same_bits_everywhere) {
    for (const int members : {2, 4, 8}) {
        std::vector<std::vector<float>> results;
        for (const algorithm a : all_algorithms)
            for (const std::int64_t piece : {128, 1 << 18}) {
                std::vector<float> first;
                connected(a, piece, 1)(members, [&](communicator& c) {
                    std::vector<float> x(20000);
                    for (std::size_t i = 0; i < x.size(); ++i)
                        x[i] = number_of<float>(c.rank(), static_cast<std::int64_t>(i));
                    c.wait(c.start({.what = kind::all_reduce_tree}, x.data(), 20000, true));
                    if (c.rank() == 0) first = x;
                });
                results.push_back(first);
            }
        for (const auto& r : results) BOOST_TEST((r == results.front()));
    }
}

// A sum in parts is the sum: sharded updates have the bits of replicated ones.
BOOST_AUTO_TEST_CASE(reduce_scatter_has_the_bits_of_all_reduce) {
    for (const algorithm a : all_algorithms)
        for (const int members : {2, 3, 4, 5, 7, 8})
            for (const kind what : {kind::reduce_scatter, kind::reduce_scatter_tree})
                for (const std::int64_t n : {100, 30000, 100000})
                    connected(a, 4096, 1)(members, [&](communicator& c) {
                        std::vector<float> whole(static_cast<std::size_t>(n));
                        for (std::int64_t i = 0; i < n; ++i)
                            whole[static_cast<std::size_t>(i)] = number_of<float>(c.rank(), i);
                        std::vector<float> part = whole;
                        c.wait(
                            c.start({.what = what == kind::reduce_scatter ? kind::all_reduce : kind::all_reduce_tree},
                                    whole.data(), n, false));
                        c.wait(c.start({.what = what}, part.data(), n, false));
                        const auto mine = c.part(n, c.rank());
                        for (std::int64_t i = mine.first; i < mine.end; ++i)
                            need(whole[static_cast<std::size_t>(i)] == part[static_cast<std::size_t>(i)],
                                 "another sum at " + std::to_string(i));
                        c.wait(c.start({.what = kind::all_gather}, part.data(), n, false));
                        need(whole == part, "gathered parts are the whole");
                    });
}

BOOST_AUTO_TEST_CASE(differences_are_errors_on_all) {
    for (const algorithm a : all_algorithms) check_differences(connected(a, 1 << 18, 2));
}
BOOST_AUTO_TEST_CASE(other_roots_are_errors_on_all) {
    for (const algorithm a : all_algorithms) check_roots(connected(a, 1 << 18, 2));
}
BOOST_AUTO_TEST_CASE(what_one_member_throws_reaches_all) {
    for (const algorithm a : all_algorithms) check_failures(connected(a, 1 << 18, 2));
}
BOOST_AUTO_TEST_CASE(buckets_beside_computing) {
    for (const algorithm a : all_algorithms) connected(a, 1 << 18, 2)(3, check_buckets_beside_computing);
}

BOOST_AUTO_TEST_CASE(slot_with_too_large_size_is_refused) {
    std::atomic<int> refused{0};
    connected(algorithm::ring, 4096, 1)(3, [&](communicator& c) {
        std::vector<std::byte> slots(3 * 64);
        const row_slot head{c.rank() == 1 ? 57 : 3};
        std::memcpy(slots.data() + 64 * c.rank(), &head, sizeof head);
        try {
            c.wait(c.start({.what = kind::all_gather_rows, .type = element::u8}, slots.data(), 64, false));
        } catch (const cluster_error& e) {
            if (std::string(e.what()).find("57") != std::string::npos) ++refused;
        }
    });
    BOOST_TEST(refused == 3);
}
