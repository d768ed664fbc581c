// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE data_stages_shuffle_window
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include "fixtures/tf_data_grouping.hpp"
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle_window.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

namespace shuffle_window_test {

using namespace sinter;
using stage_test::elements_of;
using stage_test::goes_on_anywhere;
using numbers = std::vector<std::int64_t>;

const auto any = [](std::int64_t) { return true; };
auto stream(std::int64_t n) { return data::range(n) | data::filter(any); }

numbers up_to(std::int64_t n) {
    numbers all;
    for (std::int64_t i = 0; i < n; ++i) all.push_back(i);
    return all;
}
std::int64_t most_early(const numbers& order) {
    std::int64_t most = 0;
    for (std::size_t o = 0; o < order.size(); ++o) most = std::max(most, order[o] - static_cast<std::int64_t>(o));
    return most;
}
/// Between the places of elements that were neighbours.
double mean_distance(const numbers& order) {
    numbers place(order.size());
    for (std::size_t o = 0; o < order.size(); ++o)
        place[static_cast<std::size_t>(order[o])] = static_cast<std::int64_t>(o);
    double sum = 0;
    for (std::size_t i = 1; i < place.size(); ++i) sum += static_cast<double>(std::abs(place[i] - place[i - 1]));
    return sum / static_cast<double>(place.size() - 1);
}
BOOST_AUTO_TEST_CASE(each_once_and_less_than_n_early) {
    for (std::int64_t all = 0; all <= 70; ++all)
        for (std::int64_t n = 1; n <= 40; ++n) {
            const numbers order = elements_of(stream(all) | data::shuffle(n, 5), 2);
            BOOST_REQUIRE(most_early(order) < n);
            // What is found by its place is the same.
            BOOST_REQUIRE(elements_of(data::range(all) | data::shuffle(n, 5), 2) == order);
            numbers sorted = order;
            std::sort(sorted.begin(), sorted.end());
            BOOST_REQUIRE(sorted == up_to(all));
        }
    BOOST_TEST((elements_of(stream(9) | data::shuffle(1)) == up_to(9)));   // as with a buffer of one
    for (const std::int64_t n : {111, 112, 113, 500, 1000, 4000})
        for (const std::int64_t all : {1000, 1001, 5003}) {
            const numbers order = elements_of(stream(all) | data::shuffle(n, 1));
            BOOST_TEST(most_early(order) < n);
            BOOST_TEST((4 * n > all || most_early(order) > n * 4 / 5));   // the bound is nearly reached
            BOOST_REQUIRE(elements_of(data::range(all) | data::shuffle(n, 1)) == order);
            numbers sorted = order;
            std::sort(sorted.begin(), sorted.end());
            BOOST_REQUIRE(sorted == up_to(all));
        }
}

BOOST_AUTO_TEST_CASE(goes_on) {
    for (const std::int64_t n : {1, 2, 3, 5, 11, 12, 30, 59, 60, 61}) {
        goes_on_anywhere(stream(60) | data::shuffle(n, 3), 1);
        goes_on_anywhere(data::range(60) | data::shuffle(n, 3), 1);
    }
    goes_on_anywhere(stream(400) | data::shuffle(113), 1);
    goes_on_anywhere(data::range(0) | data::filter(any) | data::shuffle(10));
    goes_on_anywhere(stream(50) | data::shuffle(7) | data::shuffle(9, 1));
    goes_on_anywhere(data::from(data::endless, [](std::int64_t i) { return i; }) | data::filter(any) |
                     data::shuffle(120) | data::take(500));
}

BOOST_AUTO_TEST_CASE(going_on_reads_at_most_twice_the_window) {
    const auto read = std::make_shared<std::int64_t>(0);
    const auto counts = [read](std::int64_t) { return ++*read, true; };
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 11, 12, 13, 40, 111, 112, 200}) {
        const auto s = data::range(1000) | data::filter(counts) | data::shuffle(n, 9);
        using stage = std::remove_const_t<decltype(s)>;
        stage::state reader{};
        s.begin(reader, 0);
        stage::cursor c{};
        stage::ticket k{};
        for (int i = 0; i < 1000; ++i) {
            const stage::cursor at = c;
            BOOST_REQUIRE(s.next(reader, c, k));
            stage::state fresh{};
            stage::cursor from = at;
            stage::ticket again{};
            s.begin(fresh, 0);
            *read = 0;
            BOOST_REQUIRE(s.next(fresh, from, again));
            BOOST_REQUIRE(*again == *k);
            BOOST_REQUIRE_MESSAGE(*read <= 2 * n, n << ", " << i << ": " << *read);
        }
    }
}

BOOST_AUTO_TEST_CASE(all_orders_of_few) {
    // 5 elements in 120 orders, 4800 draws: chi-square with 119 degrees of freedom is above 190 once in 30,000 times.
    for (const std::int64_t n : {5, 6, 200}) {
        std::map<numbers, int> drawn;
        for (std::uint64_t seed = 0; seed < 4800; ++seed) ++drawn[elements_of(stream(5) | data::shuffle(n, seed))];
        double chi = 0;
        for (const auto& [order, times] : drawn) chi += (times - 40.0) * (times - 40.0) / 40;
        BOOST_TEST(drawn.size() == 120u);
        BOOST_TEST(chi < 190);
    }
}

BOOST_AUTO_TEST_CASE(neighbours_part) {
    int next = 0;
    for (const std::int64_t n : {30, 200, 1000}) {
        const std::int64_t all = 20 * n;
        const numbers order = elements_of(data::range(all) | data::shuffle(n, 1));
        const double here = mean_distance(order);
        const double there = tf_data_grouping::distances[next++] / 1000.0;   // by a buffer of n
        BOOST_TEST_MESSAGE("n = " << n << ": " << here << ", by a buffer " << there);
        BOOST_TEST(here > 0.45 * there);
        BOOST_TEST(here > (n < 112 ? 0.45 : 0.52) * static_cast<double>(n));
        double moved = 0;
        for (std::size_t o = 0; o < order.size(); ++o)
            moved += std::abs(static_cast<double>(order[o]) - static_cast<double>(o));
        BOOST_TEST(moved / static_cast<double>(all) > (n < 112 ? 0.37 : 0.42) * static_cast<double>(n));
        // As often in one order as in the other: no trend is left between neighbours.
        std::int64_t rising = 0;
        for (std::size_t i = 1; i < order.size(); ++i) rising += order[i] > order[i - 1];
        BOOST_TEST(std::abs(static_cast<double>(rising) / static_cast<double>(all) - 0.5) < 0.06);
    }
}

BOOST_AUTO_TEST_CASE(passes_and_seeds) {
    const auto of = [](std::uint64_t seed, std::int64_t pass) {
        return elements_of(stream(300) | data::shuffle(40, seed), pass);
    };
    BOOST_TEST((of(1, 0) == of(1, 0)));
    BOOST_TEST((of(1, 0) != of(1, 1)));
    BOOST_TEST((of(1, 0) != of(2, 0)));
    const auto s = stream(300) | data::shuffle(40);
    BOOST_TEST(s.size() == data::unknown_size);
    BOOST_TEST((data::range(300) | data::shuffle(40)).size() == 300);
    BOOST_TEST((data::indexed_stage<decltype(data::range(3) | data::shuffle(2))>));
    BOOST_CHECK_THROW(data::shuffle(0), option_error);
    // Random numbers of a map behind it are those of the new places.
    const auto drawn = elements_of(stream(50) | data::shuffle(9) |
                                   data::map([](std::int64_t, random_stream& r) { return r.word(); }));
    BOOST_TEST((drawn == elements_of(stream(50) | data::map([](std::int64_t, random_stream& r) { return r.word(); }))));
}

/// The pass's first elements are read again when what is before failed once.
BOOST_AUTO_TEST_CASE(an_error_before_it) {
    const auto fails = std::make_shared<bool>(false);
    const auto s = data::range(200) | data::filter([fails](std::int64_t i) {
        if (i == 117 && *fails) throw data_error("a fault", "here");
        return true;
    }) | data::shuffle(30);
    using stage = std::remove_const_t<decltype(s)>;
    const numbers all = elements_of(s);
    *fails = true;
    stage::state reader{};
    s.begin(reader, 0);
    stage::cursor c{};
    stage::ticket k{};
    numbers got;
    for (bool more = true; more;) try {
        while ((more = s.next(reader, c, k))) got.push_back(*k);
    } catch (const data_error&) {
        *fails = false;
    }
    BOOST_TEST((got == all));
}

} // namespace shuffle_window_test
