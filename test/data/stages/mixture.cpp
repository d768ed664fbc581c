// SPDX-License-Identifier: BSL-1.0
// sample_from(), choose_from(), and the sources counter(), random() and generator().
#define BOOST_TEST_MODULE data_stages_mixture
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include "fixtures/tf_data_grouping.hpp"
#include <sinter/data/stages/counter.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/generator.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/mixture.hpp>
#include <sinter/data/stages/random.hpp>
#include <sinter/data/stages/take.hpp>
#include <cmath>
#include <memory>

namespace mixture_test {

using namespace sinter;
using stage_test::elements_of;
using stage_test::goes_on_anywhere;
using numbers = std::vector<std::int64_t>;
using texts = std::vector<std::string>;

/// Numbers of one hundred, so that an element says where it is from.
auto of(std::int64_t which, std::int64_t n) { return data::range(100 * which, 100 * which + n); }
auto stream(std::int64_t which, std::int64_t n) {
    return of(which, n) | data::filter([](std::int64_t) { return true; });
}

BOOST_AUTO_TEST_CASE(choices) {
    // tf.data's example of choose_from_datasets, by elements without end.
    const auto of_text = [](const char* t) {
        return data::from(data::endless, [t](std::int64_t) { return std::string(t); });
    };
    const auto turns = data::from(9, [](std::int64_t i) { return i % 3; });
    BOOST_TEST((elements_of(data::choose_from(turns, of_text("foo"), of_text("bar"), of_text("baz"))) ==
                texts{"foo", "bar", "baz", "foo", "bar", "baz", "foo", "bar", "baz"}));

    namespace tf = tf_data_grouping;
    const auto thirds = data::from(std::ssize(tf::numbers), [](std::int64_t i) { return tf::numbers[i] % 3; });
    BOOST_TEST((elements_of(data::choose_from(thirds, of(1, 3), of(2, 6), of(3, 9))) ==
                numbers(std::begin(tf::chosen), std::end(tf::chosen))));
    BOOST_TEST((elements_of(data::choose_from(thirds, {.stop_on_empty = false}, of(1, 3), of(2, 6), of(3, 9))) ==
                numbers(std::begin(tf::chosen_to_the_end), std::end(tf::chosen_to_the_end))));

    const auto by = data::rows(std::vector<int>{0, 1, 1, 2, 0, 2, 2, 1, 0, 0, 1});
    const auto stops = data::choose_from(by, of(1, 3), stream(2, 2), of(3, 9));
    BOOST_TEST((elements_of(stops) == numbers{100, 200, 201, 300, 101, 301, 302}));
    const auto goes = data::choose_from(by, {.stop_on_empty = false}, of(1, 3), stream(2, 2), of(3, 9));
    BOOST_TEST((elements_of(goes) == numbers{100, 200, 201, 300, 101, 301, 302, 102}));
    const auto all_empty = data::choose_from(data::from(data::endless, [](std::int64_t i) { return i % 2; }),
                                             {.stop_on_empty = false}, of(1, 3), of(2, 1));
    BOOST_TEST((elements_of(all_empty) == numbers{100, 200, 101, 102}));
    goes_on_anywhere(stops);
    goes_on_anywhere(goes);
    goes_on_anywhere(all_empty);
    BOOST_TEST(stops.size() == data::unknown_size);
    for (const int wrong : {-1, 3})
        BOOST_CHECK_EXCEPTION(
            elements_of(data::choose_from(data::rows(std::vector<int>{wrong}), of(1, 3), of(2, 3), of(3, 3))),
            data_error, [](const data_error& e) { return e.needed() == "0 to 2"; });
}

BOOST_AUTO_TEST_CASE(weights) {
    const auto s = data::sample_from({7, 2, 0, 1}, data::counter(0), data::counter(1'000'000),
                                     data::counter(2'000'000), data::counter(3'000'000));
    BOOST_TEST(s.size() == data::endless);
    constexpr int n = 20'000;
    const numbers all = elements_of(s, 0, n);
    std::int64_t next[4] = {}, follows = 0, before = 0;
    for (const std::int64_t e : all) {
        const auto which = static_cast<std::size_t>(e / 1'000'000);
        BOOST_REQUIRE(e % 1'000'000 == next[which]++);   // each in its own order
        follows += before == 0 && which == 0;
        before = static_cast<std::int64_t>(which);
    }
    const double chances[] = {.7, .2, 0, .1};
    for (std::size_t i = 0; i < 4; ++i) {   // within 4 standard deviations
        const double off = static_cast<double>(next[i]) - n * chances[i];
        BOOST_TEST(std::abs(off) <= 4 * std::sqrt(n * chances[i] * (1 - chances[i])));
    }
    BOOST_TEST(std::abs(static_cast<double>(follows) - n * .49) < 4 * std::sqrt(n * .49 * .51) * 2);
    BOOST_TEST((elements_of(s, 0, 50) != elements_of(s, 1, 50)));
    const auto seeded = [](std::uint64_t seed) {
        return elements_of(data::sample_from({1, 1}, {.seed = seed}, data::counter(0), data::counter(1000)), 0, 50);
    };
    BOOST_TEST((seeded(1) != seeded(2)));
    BOOST_TEST((seeded(1) == seeded(1)));
}

BOOST_AUTO_TEST_CASE(ends) {
    const auto to_the_end = data::sample_from({.5, .3, .2}, of(1, 10), stream(2, 20), of(3, 5));
    for (int pass = 0; pass < 5; ++pass) {
        std::int64_t next[4] = {};
        for (const std::int64_t e : elements_of(to_the_end, pass)) BOOST_REQUIRE(e % 100 == next[e / 100]++);
        BOOST_TEST((next[1] == 10 && next[2] == 20 && next[3] == 5));
    }
    const auto to_the_first =
        data::sample_from({.5, .3, .2}, {.stop_on_empty = true}, of(1, 10), stream(2, 20), of(3, 5));
    for (int pass = 0; pass < 5; ++pass) {   // the same until one is missing
        const numbers all = elements_of(to_the_end, pass), begin = elements_of(to_the_first, pass);
        BOOST_REQUIRE(begin.size() <= all.size());
        BOOST_TEST((numbers(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin.size())) == begin));
        std::int64_t next[4] = {};
        for (const std::int64_t e : begin) ++next[e / 100];
        BOOST_TEST((next[1] == 10 || next[2] == 20 || next[3] == 5));
    }
    goes_on_anywhere(to_the_end, 1);
    goes_on_anywhere(to_the_first, 1);
    goes_on_anywhere(data::sample_from({1}, stream(1, 20)));
    goes_on_anywhere(data::sample_from({1, 0}, of(1, 3), of(2, 9)));   // the second one is never read
    goes_on_anywhere(data::sample_from({1, 2}, data::sample_from({1, 1}, of(1, 9), of(2, 9)), stream(3, 9)));
    const auto by_pass = data::sample_from(
        [](std::int64_t pass) { return pass == 0 ? std::vector<double>{1, 0} : std::vector<double>{0, 1}; }, of(1, 3),
        of(2, 3));
    BOOST_TEST((elements_of(by_pass, 0) == numbers{100, 101, 102}));
    BOOST_TEST((elements_of(by_pass, 1) == numbers{200, 201, 202}));
    goes_on_anywhere(by_pass);
    BOOST_TEST(data::sample_from({1, 0}, of(1, 3), data::counter()).size() == data::unknown_size);
    BOOST_TEST(data::sample_from({1, 1}, of(1, 3), data::counter()).size() == data::endless);
    BOOST_TEST(data::sample_from({1, 1}, {.stop_on_empty = true}, of(1, 3), data::counter()).size() ==
               data::unknown_size);
    description first, second;   // what members of a job compare
    data::sample_from({1, 3}, of(1, 3), of(2, 3)).describe(first);
    data::sample_from({3, 1}, of(1, 3), of(2, 3)).describe(second);
    BOOST_TEST(description::differences(first.text(), "a", second.text(), "b").find(
                   "share of pipeline 1 in 2^30: a has 805306368, b has 268435456") != std::string::npos);
    BOOST_CHECK_THROW(data::sample_from({1, 1}, of(1, 3)), option_error);
    BOOST_CHECK_THROW(data::sample_from({1, -1}, of(1, 3), of(2, 3)), option_error);
    BOOST_CHECK_THROW(data::sample_from({0, 0}, of(1, 3), of(2, 3)), option_error);
    BOOST_CHECK_THROW(data::sample_from({1, std::nan("")}, of(1, 3), of(2, 3)), option_error);
    BOOST_TEST((elements_of(data::sample_from({1e300, 1e-300}, of(1, 3), of(2, 1))).size() == 4u));
}

BOOST_AUTO_TEST_CASE(counters) {
    BOOST_TEST((elements_of(data::counter(), 0, 4) == numbers{0, 1, 2, 3}));
    BOOST_TEST((elements_of(data::counter(10, -3), 0, 4) ==
                numbers(std::begin(tf_data_grouping::counter), std::end(tf_data_grouping::counter))));
    BOOST_TEST((elements_of(data::counter(INT64_MAX, 1), 0, 2) == numbers{INT64_MAX, INT64_MIN}));
    BOOST_TEST(data::counter().size() == data::endless);
    goes_on_anywhere(data::counter(3, 2) | data::take(20));
}

BOOST_AUTO_TEST_CASE(random_numbers) {
    const numbers all = elements_of(data::random(4), 2, 4000);
    std::int64_t in[8] = {};
    for (const std::int64_t e : all) {
        BOOST_REQUIRE((e >= 0 && e < std::int64_t{1} << 32));
        ++in[e >> 29];
    }
    double chi = 0;   // 7 degrees of freedom: above 29 once in 6,000 times
    for (const std::int64_t n : in) chi += static_cast<double>((n - 500) * (n - 500)) / 500;
    BOOST_TEST(chi < 29);
    BOOST_TEST((elements_of(data::random(4), 2, 50) != elements_of(data::random(4), 3, 50)));
    BOOST_TEST((elements_of(data::random(4), 2, 50) != elements_of(data::random(5), 2, 50)));
    goes_on_anywhere(data::random(4) | data::take(50), 2);
    goes_on_anywhere(data::sample_from({1, 3}, data::counter(), data::random(1)) | data::take(90), 1);
}

struct countdown {
    std::int64_t from;
    std::optional<std::int64_t> next() { return from > 0 ? std::optional(from--) : std::nullopt; }
};

BOOST_AUTO_TEST_CASE(generators) {
    const auto down = data::generator([](std::int64_t pass) { return countdown{pass + 3}; });
    BOOST_TEST((elements_of(down, 0) == numbers{3, 2, 1}));
    BOOST_TEST((elements_of(down, 2) == numbers{5, 4, 3, 2, 1}));
    BOOST_TEST(down.size() == data::unknown_size);
    for (const int pass : {0, 1, 20}) goes_on_anywhere(down, pass);
    goes_on_anywhere(data::generator([](std::int64_t) { return countdown{0}; }));
    const auto drawn = data::generator([](std::int64_t pass) {
        return [random = random_stream(7, static_cast<std::uint64_t>(pass)), left = 30]() mutable
                   -> std::optional<std::uint32_t> {
            if (left-- == 0) return std::nullopt;
            return random.word();
        };
    });
    goes_on_anywhere(drawn, 1);
    goes_on_anywhere(drawn | data::map([](std::uint32_t w, random_stream& r) { return w ^ r.word(); }));
    // An object is asked no more once it has ended, and each reader has its own.
    const auto made = std::make_shared<int>(0);
    const auto counted = data::generator([made](std::int64_t) {
        ++*made;
        return [asked = 0]() mutable -> std::optional<int> {
            BOOST_REQUIRE(asked < 3);
            return asked++ < 2 ? std::optional(asked) : std::nullopt;
        };
    });
    goes_on_anywhere(counted);
    *made = 0;
    BOOST_TEST(elements_of(counted).size() == 2u);
    BOOST_TEST(*made == 1);   // the state that computes values needs none
}

} // namespace mixture_test
