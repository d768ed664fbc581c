// SPDX-License-Identifier: BSL-1.0
// shows members: sums within hosts, then between them: one result, the same again, in the tree's order where asked for;
//     a member that differs or dies is an error of all
// needs: distributed
// processors: all
#define BOOST_TEST_MODULE hierarchical
#include "support/member_processes.hpp"
#include "support/pairs.hpp"
#include <bit>
#include <boost/test/unit_test.hpp>
#include <sinter/collective/hierarchical.hpp>
#include <sinter/collective/ring.hpp>

// Real processes that count as members of several hosts, since their addresses differ: sums against plain ones, the
// same bits on all members and in every run, the order of the tree, and errors that reach all.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

namespace {

/// What f says in each of the members, of which host h has members[h]. `mixed`: their ranks alternate between hosts.
template <class Algorithm = hierarchical>
std::vector<std::string> on_hosts(const std::vector<int>& members, bool mixed,
                                  const std::function<std::string(communicator&)>& f) {
    const auto hosts = own_addresses(static_cast<int>(members.size()));
    std::vector<std::string> at;
    int port = 8000;
    for (std::size_t k = 0; k < 8; ++k)
        for (std::size_t h = 0; h < hosts.size(); ++h) {
            const int n = mixed ? static_cast<int>(k) < members[h] : k == 0 ? members[h] : 0;
            for (int i = 0; i < n; ++i)
                at.push_back(hosts[h].substr(0, hosts[h].find(':')) + ":" + std::to_string(port++));
        }
    processes p;
    for (int r = 0; r < static_cast<int>(at.size()); ++r)
        p.start([&, r] {
            const auto c = Algorithm::connect(cluster::of(at, r, quick(10)), wire::identity{1, 2, 3});
            return f(*c);
        });
    std::vector<std::string> all;
    for (int r = 0; r < static_cast<int>(at.size()); ++r) all.push_back(p.result(r, 100));
    return all;
}
void check(const std::vector<int>& members, bool mixed, const std::function<void(communicator&)>& f) {
    const auto texts = on_hosts(members, mixed, [&](communicator& c) {
        f(c);
        return std::string("done");
    });
    for (const auto& t : texts) BOOST_TEST(t == "done", members.size() << " hosts: " << t);
}
/// A hash of the bits of sums.
std::string bits_of_sums(communicator& c, kind what) {
    std::uint64_t hash = 0;
    for (const std::int64_t n : {1, 3000, 300001}) {
        std::vector<float> x(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = number_of<float>(c.rank(), i);
        c.wait(c.start({.what = what}, x.data(), n, true));
        for (const float v : x) hash = (hash ^ std::bit_cast<std::uint32_t>(v)) * 0x100000001B3u;
    }
    return std::to_string(hash);
}

} // namespace

BOOST_AUTO_TEST_CASE(hosts_of_a_roster) {
    const auto layout = [](const std::vector<std::string>& hosts, int rank) {
        const auto l = host_layout::of(hosts, rank);
        return std::to_string(l.host) + std::to_string(l.local) + (l.even ? "e" : "u") + (l.in_order ? "o" : "-") +
               std::to_string(l.counterparts());
    };
    BOOST_TEST(layout({"a"}, 0) == "00eo0");
    BOOST_TEST(layout({"a", "a", "b", "b"}, 3) == "11eo1");
    BOOST_TEST(layout({"a", "b", "a", "b"}, 2) == "01e-1");
    BOOST_TEST(layout({"a", "a", "a", "b", "b", "b"}, 4) == "11e-1");   // 3 is no power of two
    BOOST_TEST(layout({"a", "b", "b"}, 1) == "10u-0");
    BOOST_TEST(layout({"a", "b", "b"}, 2) == "11u--1");
}
BOOST_AUTO_TEST_CASE(every_operation) {
    const auto all = [](communicator& c) {
        for (const std::int64_t n : {0, 100, 5000, 40000}) check_operations(c, n);
        check_closed_form(c, {10000, 200003});
        check_buckets_beside_computing(c);
    };
    check({2, 2}, false, all);
    check({2, 2}, true, all);
    check({1, 3}, false, all);
    for (const auto& members : {std::vector<int>{1}, {3}, {1, 1}})
        check(members, false, [](communicator& c) { check_operations(c, 5000); });
}
BOOST_AUTO_TEST_CASE(the_same_bits_on_all_members_and_again) {
    for (const bool mixed : {false, true}) {
        const auto one = on_hosts({2, 2}, mixed, [](communicator& c) { return bits_of_sums(c, kind::all_reduce); });
        const auto other = on_hosts({2, 2}, mixed, [](communicator& c) { return bits_of_sums(c, kind::all_reduce); });
        for (const auto& t : one) BOOST_TEST((t == one.front() && t.size() > 4), t);
        BOOST_TEST(one == other, boost::test_tools::per_element());
        const auto tree = on_hosts({2, 2}, mixed, [](communicator& c) {
            return bits_of_sums(c, kind::all_reduce_tree);
        });
        const auto ring_tree = on_hosts<ring>({2, 2}, mixed, [](communicator& c) {
            return bits_of_sums(c, kind::all_reduce_tree);
        });
        BOOST_TEST(tree == ring_tree, boost::test_tools::per_element());
    }
}
BOOST_AUTO_TEST_CASE(messages_and_groups) {
    check({2, 2}, false, [](communicator& c) {
        check_messages(c, {0, 100000});
        check_groups(c);
    });
}
BOOST_AUTO_TEST_CASE(differences_and_deaths_are_errors_of_all) {
    const operation usual{.what = kind::all_reduce, .type = element::f32, .step = 5, .bucket = 2};
    for (const int odd : {1, 3})
        for (const kind other : {kind::all_reduce, kind::reduce_scatter, kind::broadcast}) {
            const auto texts = on_hosts({2, 2}, false, [&](communicator& c) {
                bool applied = false;
                operation o = usual;
                if (c.rank() == odd) o.what = other;
                const bool longer = c.rank() == odd && other == kind::all_reduce;
                const std::string text = error_of(c, o, longer ? 100001 : 100000, applied);
                return applied ? std::string("a result") : text;
            });
            for (const auto& t : texts) BOOST_TEST((holds(t, "step 5") && holds(t, "worker/")), t);
        }
    for (const int victim : {1, 2}) {
        const auto texts = on_hosts({2, 2}, false, [&](communicator& c) {
            std::vector<float> x(300000);
            for (int step = 0; step < 3000; ++step) {
                if (c.rank() == victim && step == 10) ::raise(SIGKILL);
                try {
                    c.wait(c.start({.what = kind::all_reduce, .step = step, .bucket = 4}, x.data(), 300000, true));
                } catch (const cluster_error& e) {
                    return std::to_string(e.rank()) + " " + e.role();
                }
            }
            return std::string("nothing happened");
        });
        for (int r = 0; r < 4; ++r)
            BOOST_TEST(texts[static_cast<std::size_t>(r)] ==
                       (r == victim ? "KILLED" : std::to_string(victim) + " worker/" + std::to_string(victim)));
    }
}
