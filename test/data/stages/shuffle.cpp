// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE stages_shuffle
#include <boost/test/unit_test.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <algorithm>
#include <string>
#include <thread>

// Elements in a random order. How random it is, test/base/permutation.cpp says.
using namespace sinter;

namespace {

using order = std::vector<std::int64_t>;
template <class Stages>
order order_of(const Stages& s, std::int64_t pass) {
    order all;
    for (const std::int64_t i : data::elements(s, pass)) all.push_back(i);
    return all;
}
auto shuffled(std::int64_t n, std::uint64_t seed = 0) { return data::range(n) | data::shuffle({.seed = seed}); }

bool is_permutation(const order& o, std::int64_t n) {
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (const std::int64_t i : o) {
        if (i < 0 || i >= n || seen[static_cast<std::size_t>(i)]) return false;
        seen[static_cast<std::size_t>(i)] = true;
    }
    return static_cast<std::int64_t>(o.size()) == n;
}

} // namespace

BOOST_AUTO_TEST_CASE(each_element_comes_once) {
    for (std::int64_t n = 0; n <= 2000; ++n) BOOST_TEST_REQUIRE(is_permutation(order_of(shuffled(n), n % 3), n), n);
    for (const std::int64_t n : {1 << 20, (1 << 20) + 1, (1 << 20) + 7}) {   // stored; computed
        const order first = order_of(shuffled(n), 0), second = order_of(shuffled(n), 1);
        BOOST_TEST_REQUIRE(is_permutation(first, n), n);
        BOOST_TEST_REQUIRE(is_permutation(second, n), n);
        std::int64_t same = 0, in_place = 0;
        for (std::size_t i = 0; i < first.size(); ++i) {
            same += first[i] == second[i];
            in_place += first[i] == static_cast<std::int64_t>(i);
        }
        BOOST_TEST(same < 20);   // of two random orders: 1
        BOOST_TEST(in_place < 20);
    }
}

BOOST_AUTO_TEST_CASE(orders_depend_on_seed_and_pass_alone) {
    const auto s = shuffled(100, 5);
    std::vector<order> all;
    for (std::int64_t pass = 0; pass < 20; ++pass) all.push_back(order_of(s, pass));
    for (std::int64_t pass = 20; pass-- > 0;) {   // in another sequence, of another pipeline
        BOOST_TEST(order_of(shuffled(100, 5), pass) == all[static_cast<std::size_t>(pass)]);
        BOOST_TEST(order_of(s, pass) == all[static_cast<std::size_t>(pass)]);
        all.push_back(order_of(shuffled(100, 6), pass));
    }
    std::sort(all.begin(), all.end());
    BOOST_TEST((std::unique(all.begin(), all.end()) == all.end()));
    BOOST_TEST(order_of(shuffled(1000), std::int64_t{1} << 40) != order_of(shuffled(1000), 0));
}

BOOST_AUTO_TEST_CASE(what_is_before_and_behind_moves_with_its_element) {
    const auto squares = data::range(50) | data::map([](std::int64_t i) { return i * i; });
    const order plain = order_of(data::range(50) | data::shuffle({.seed = 2}), 3);
    order expected;
    for (const std::int64_t i : plain) expected.push_back(i * i + 1);
    BOOST_TEST(order_of(squares | data::shuffle({.seed = 2}) | data::map([](std::int64_t i) { return i + 1; }), 3) ==
               expected);
    // Elements in memory are not copied.
    const auto rows = data::rows(std::vector<std::string>{"a", "b", "c"}) | data::shuffle();
    static_assert(std::is_same_v<decltype(rows.get(std::declval<decltype(rows)::state&>(), 0)), const std::string&>);
    // Two in a row are an order of an order.
    BOOST_TEST(is_permutation(order_of(shuffled(77, 1) | data::shuffle({.seed = 2}), 0), 77));
    static_assert(data::indexed_stage<decltype(shuffled(5))>);
    BOOST_TEST(shuffled(5).size() == 5);
}

BOOST_AUTO_TEST_CASE(one_state_goes_from_pass_to_pass) {
    const auto s = shuffled(30);
    decltype(s)::state state;
    for (const std::int64_t pass : {0, 1, 0, 7, 3, 7, 1, 2, 0}) {
        s.begin(state, pass);
        order got;
        for (std::int64_t i = 0; i < 30; ++i) got.push_back(s.get(state, i));
        BOOST_TEST(got == order_of(shuffled(30), pass));
    }
}

BOOST_AUTO_TEST_CASE(several_threads_are_in_several_passes_at_once) {
    for (const std::int64_t n : {std::int64_t{300}, (std::int64_t{1} << 20) + 7}) {
        const auto s = shuffled(n, 9);
        constexpr int threads = 4, passes = 12, looked_at = 100;
        std::vector<order> got(threads);
        {
            std::vector<std::jthread> team;
            for (int t = 0; t < threads; ++t)
                team.emplace_back([&, t] {
                    decltype(s)::state state;
                    for (int k = 0; k < passes; ++k) {
                        s.begin(state, (k + t) % passes);
                        for (int i = 0; i < looked_at; ++i) got[static_cast<std::size_t>(t)].push_back(s.get(state, i));
                    }
                });
        }
        for (int t = 0; t < threads; ++t) {
            order expected;
            for (int k = 0; k < passes; ++k) {
                const auto own = shuffled(n, 9);
                decltype(own)::state state;
                own.begin(state, (k + t) % passes);
                for (int i = 0; i < looked_at; ++i) expected.push_back(own.get(state, i));
            }
            BOOST_TEST((got[static_cast<std::size_t>(t)] == expected));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_pass_without_end_has_no_order) {
    BOOST_CHECK_THROW(data::from(data::endless, [](std::int64_t i) { return i; }) | data::shuffle(), option_error);
}
