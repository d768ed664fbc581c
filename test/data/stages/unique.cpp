// SPDX-License-Identifier: BSL-1.0
// unique() and ignore_errors(): what is left out of a stream.
#define BOOST_TEST_MODULE data_stages_unique
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include "fixtures/tf_data_grouping.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/generator.hpp>
#include <sinter/data/stages/ignore_errors.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/unique.hpp>
#include <algorithm>
#include <memory>

namespace unique_test {

using namespace sinter;
using stage_test::elements_of;
using stage_test::goes_on_anywhere;
using numbers = std::vector<std::int64_t>;

/// One element after the other is looked for in a list.
numbers without_known(const numbers& all, std::size_t window) {
    numbers kept, known;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (window > 0 && i % window == 0) known.clear();
        if (std::find(known.begin(), known.end(), all[i]) != known.end()) continue;
        known.push_back(all[i]);
        kept.push_back(all[i]);
    }
    return kept;
}

BOOST_AUTO_TEST_CASE(unique) {
    // The example of tf.data's unique(): [1, 37, 2, 37, 2, 1] without what came before.
    BOOST_TEST((elements_of(data::rows(numbers{1, 37, 2, 37, 2, 1}) | data::unique()) == numbers{1, 37, 2}));
    namespace tf = tf_data_grouping;
    BOOST_TEST((elements_of(data::rows(numbers(std::begin(tf::numbers), std::end(tf::numbers))) | data::unique()) ==
                numbers(std::begin(tf::unique), std::end(tf::unique))));
    random_stream random(3);
    for (int round = 0; round < 20; ++round) {
        numbers all;
        for (int i = 0; i < 60; ++i) all.push_back(random.below(20));
        for (const int window : {0, 1, 7, 20, 59, 60, 61}) {
            const auto s = data::rows(all) | data::unique({.window = window});
            BOOST_REQUIRE((elements_of(s) == without_known(all, static_cast<std::size_t>(window))));
            if (round < 3) goes_on_anywhere(s);
        }
    }
    goes_on_anywhere(data::rows(numbers{}) | data::unique());
    BOOST_CHECK_THROW(data::unique({.window = -1}), option_error);
}

struct place {
    float x;
    std::array<int, 2> y;
    std::string name;
    std::vector<std::int32_t> path;
    data::extra<int> number;
};
struct inner {
    data::pixels<1, 2> image;
    std::pair<int, bool> of;
};

BOOST_AUTO_TEST_CASE(keys) {
    const auto kept = [](const auto& rows) {
        std::vector<int> found;
        for (const auto& e : elements_of(data::rows(rows) | data::unique())) found.push_back(e.number.value);
        return found;
    };
    // Texts and vectors have their lengths in the key: {"ab", {}} is not {"a", {'b'}}. What is extra does not count.
    const std::vector<place> places{{1, {1, 2}, "ab", {}, {0}},  {1, {1, 2}, "ab", {}, {1}},
                                    {2, {1, 2}, "ab", {}, {2}},  {1, {1, 3}, "ab", {}, {3}},
                                    {1, {1, 2}, "a", {}, {4}},   {1, {1, 2}, "ab", {0}, {5}},
                                    {1, {1, 2}, "ab", {0, 0}, {6}}, {1, {1, 2}, "ab", {0}, {7}}};
    BOOST_TEST((kept(places) == std::vector<int>{0, 2, 3, 4, 5, 6}));
    const auto by_length = [](const std::string& s) { return s.size(); };
    BOOST_TEST((elements_of(data::rows(std::vector<std::string>{"a", "b", "cc", "d", "ee", ""}) |
                            data::unique(by_length)) == std::vector<std::string>{"a", "cc", ""}));
    std::vector<inner> pictures(3);
    pictures[1].image.bytes[1] = 1;
    BOOST_TEST(elements_of(data::rows(pictures) | data::unique()).size() == 2u);
}

const auto fails_at_thirds = [](std::int64_t i) {
    if (i % 3 == 1) throw data_error("a bad element", to_text({"element ", i}));
    if (i % 11 == 10) throw format_error("a bad element", to_text({"element ", i}));
    return i;
};

BOOST_AUTO_TEST_CASE(errors_are_left_out) {
    numbers good;
    for (std::int64_t i = 0; i < 60; ++i)
        if (i % 3 != 1 && i % 11 != 10) good.push_back(i);
    const auto left_out = 60 - static_cast<std::int64_t>(good.size());

    const data::ignored_errors seen;
    BOOST_TEST(seen.first().empty());
    const auto s = data::range(60) | data::map(fails_at_thirds) | data::ignore_errors(left_out, seen);
    BOOST_TEST((elements_of(s) == good));
    BOOST_TEST(seen.count() == left_out);
    BOOST_TEST(seen.first() == "element 1: a bad element");
    BOOST_TEST((elements_of(s, 1) == good));   // counted for each pass
    goes_on_anywhere(s);

    // Also where a stream computes them in next().
    const auto any = [](std::int64_t) { return true; };
    goes_on_anywhere(data::range(60) | data::map(fails_at_thirds) | data::filter(any) | data::ignore_errors(left_out));
    const auto limited = data::range(60) | data::map(fails_at_thirds) | data::filter(any) |
        data::ignore_errors(left_out - 1);
    BOOST_CHECK_EXCEPTION(elements_of(limited), data_error, [&](const data_error& e) {
        return e.where() == "ignore_errors" && e.needed() == to_text({"at most ", left_out - 1}) &&
               e.got() == to_text({left_out, "; the first of all: element 1: a bad element"});
    });
    // Gone on with, a pass has no more errors than before.
    using stage = std::remove_const_t<decltype(limited)>;
    stage::state state{};
    stage::cursor c{};
    stage::ticket k{};
    limited.begin(state, 0);
    for (int i = 0; i < 20; ++i) BOOST_REQUIRE(limited.next(state, c, k));
    stage::state other{};
    limited.begin(other, 0);
    const auto to_the_end = [&] {
        while (limited.next(other, c, k)) {}
    };
    BOOST_CHECK_THROW(to_the_end(), data_error);
    BOOST_CHECK_THROW(data::ignore_errors(-1), option_error);
}

struct stuck {
    std::shared_ptr<int> calls;
    std::optional<int> next() const {
        ++*calls;
        throw data_error("a damaged file", "here");
    }
};

BOOST_AUTO_TEST_CASE(errors_that_pass_through) {
    const auto calls = std::make_shared<int>(0);
    const auto damaged = data::generator([calls](std::int64_t) { return stuck{calls}; }) |
        data::ignore_errors(1'000'000'000);
    BOOST_CHECK_EXCEPTION(elements_of(damaged), data_error,
                          [](const data_error& e) { return e.fault() == "a damaged file"; });
    BOOST_TEST(*calls <= 3);
    const auto unreadable = data::range(9) | data::map([](std::int64_t i) {
        if (i == 4) throw io_error("cannot be read", "file");
        return i;
    }) | data::ignore_errors(9);
    BOOST_CHECK_THROW(elements_of(unreadable), io_error);
}

} // namespace unique_test
