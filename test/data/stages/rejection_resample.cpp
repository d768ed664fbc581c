// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE data_stages_rejection_resample
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/rejection_resample.hpp>
#include <sinter/data/stages/source.hpp>
#include <cmath>

namespace rejection_resample_test {

using namespace sinter;
using stage_test::elements_of;
using stage_test::goes_on_anywhere;
using numbers = std::vector<std::int64_t>;

/// Of ten elements six are of class 0, three of class 1, one of class 2.
constexpr std::int64_t class_of(std::int64_t i) { return i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2; }
const auto by_class = [](std::int64_t i) { return class_of(i); };

numbers counts_of(const numbers& kept) {
    numbers n(3);
    for (const std::int64_t i : kept) ++n[static_cast<std::size_t>(class_of(i))];
    return n;
}
/// Within 4 standard deviations of n draws.
void is_near(std::int64_t got, std::int64_t n, double chance) {
    const double expected = static_cast<double>(n) * chance;
    BOOST_TEST(std::abs(static_cast<double>(got) - expected) <= 4 * std::sqrt(expected * (1 - chance)) + 1);
}

BOOST_AUTO_TEST_CASE(known_shares) {
    const auto s = data::range(10'000) | data::rejection_resample(by_class, {1, 1, 2}, {.initial = {.6, .3, .1}});
    const numbers kept = elements_of(s), n = counts_of(kept);
    for (std::size_t i = 1; i < kept.size(); ++i) BOOST_REQUIRE(kept[i] > kept[i - 1]);
    // Class 2 has 20 times its share: all of it is kept, of class 0 1 in 12, of class 1 1 in 6.
    BOOST_TEST(n[2] == 1000);
    is_near(n[0], 6000, 1 / 12.);
    is_near(n[1], 3000, 1 / 6.);
    BOOST_TEST((elements_of(s, 1) != kept));
    BOOST_TEST(s.size() == data::unknown_size);
    // What is frequent as it is wanted stays as it is, and what has no share goes.
    const auto all = data::range(500) | data::rejection_resample(by_class, {6, 3, 1}, {.initial = {6, 3, 1}});
    BOOST_TEST(elements_of(all).size() == 500u);
    BOOST_TEST((counts_of(elements_of(data::range(500) |
                                      data::rejection_resample(by_class, {0, 1, 0}, {.initial = {6, 3, 0}}))) ==
                numbers{0, 150, 0}));
}

BOOST_AUTO_TEST_CASE(counted_shares) {
    const auto s = data::range(10'000) | data::rejection_resample(by_class, {.5, .25, .25}, {.seed = 3});
    const numbers n = counts_of(elements_of(s));
    BOOST_TEST(n[2] >= 990);   // but for a few at the beginning
    is_near(n[0], 6000, 1 / 3.);
    is_near(n[1], 3000, 1 / 3.);
}

BOOST_AUTO_TEST_CASE(goes_on) {
    const auto any = [](std::int64_t) { return true; };
    goes_on_anywhere(data::range(150) | data::rejection_resample(by_class, {1, 1, 1}), 2);
    goes_on_anywhere(data::range(150) | data::filter(any) |
                     data::rejection_resample(by_class, {1, 1, 1}, {.initial = {.6, .3, .1}, .seed = 1}), 2);
}

BOOST_AUTO_TEST_CASE(options) {
    const auto fails = [](std::vector<double> target, std::vector<double> initial, std::string_view what) {
        BOOST_CHECK_EXCEPTION(data::rejection_resample(by_class, target, {.initial = initial}), option_error,
                              [&](const option_error& e) { return e.fault() == what; });
    };
    fails({}, {}, "all shares are 0");
    fails({0, 0}, {}, "all shares are 0");
    fails({1, -1}, {}, "impossible share");
    fails({1, std::nan("")}, {}, "impossible share");
    fails({1, 1}, {1}, "wrong number of shares");
    fails({1, 1}, {1, 0}, "a share of a class that never comes");
    BOOST_CHECK_EXCEPTION(elements_of(data::range(10) | data::rejection_resample(by_class, {1, 1})), data_error,
                          [](const data_error& e) { return e.got() == "2" && e.needed() == "0 to 1"; });
}

} // namespace rejection_resample_test
