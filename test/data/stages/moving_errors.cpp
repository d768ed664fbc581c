// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE data_stages_moving_errors
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include "io/error_parts.hpp"
#include <sinter/data/stages/concatenate.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/flat_map.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/repeat.hpp>
#include <sinter/data/stages/scan.hpp>
#include <sinter/data/stages/shard.hpp>
#include <sinter/data/stages/skip.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <sinter/data/stages/take_while.hpp>
#include <sinter/data/stages/window.hpp>
#include <sinter/data/stages/zip.hpp>
#include <functional>

using namespace sinter;

namespace {

using reading::i64;
using numbers = std::vector<i64>;
constexpr i64 most = INT64_MAX;

bool says(const std::function<void()>& f, std::string_view where, std::string_view got) {
    try {
        f();
    } catch (const option_error& e) {
        return e.where() == where && e.got() == got && !e.needed().empty();
    }
    return false;
}

/// A stream of 0 to n - 1 that throws where it should give `bad`.
auto damaged(i64 n, i64 bad) {
    return data::range(n) | data::filter([bad](i64 e) {
        if (e == bad) throw data_error("damaged", "a test", {}, {});
        return true;
    });
}
/// All elements of a reader who goes on after errors; -1 for each error.
template <class Stages>
std::vector<typename Stages::value_type> despite_errors(const Stages& s, const typename Stages::value_type& error) {
    std::vector<typename Stages::value_type> all;
    typename Stages::state state{};
    s.begin(state, 0);
    data::stage_parts::cursor_of<Stages> c{};
    for (data::stage_parts::ticket_of<Stages> k{}; all.size() < 100;) {
        try {
            if (!data::stage_parts::next(s, state, c, k)) break;
            all.push_back(s.get(state, k));
        } catch (const data_error&) {
            all.push_back(error);
        }
    }
    return all;
}
numbers despite_errors(const auto& s) { return despite_errors(s, -1); }

} // namespace

BOOST_AUTO_TEST_CASE(options_are_checked_where_steps_are_made) {
    BOOST_TEST(says([] { data::take(-2); }, "take", "-2"));
    BOOST_TEST(says([] { data::skip(-2); }, "skip", "-2"));
    BOOST_TEST(says([] { data::shard(3, 3); }, "shard", "3 of 3"));
    BOOST_TEST(says([] { data::shard(3, -1); }, "shard", "-1 of 3"));
    BOOST_TEST(says([] { data::shard(0, 0); }, "shard", "0 of 0"));
    BOOST_TEST(says([] { data::repeat(0); }, "repeat", "0"));
    BOOST_TEST(says([] { data::window(0); }, "window", "0"));
    BOOST_TEST(says([] { data::window(1, {.shift = -1}); }, "window", "-1"));
    BOOST_TEST(says([] { data::window(1, {.stride = 0}); }, "window", "0"));
    BOOST_TEST(says([] { data::window(most, {.stride = 2}); }, "window", "2 times 9223372036854775807"));
}

BOOST_AUTO_TEST_CASE(elements_that_cannot_be_counted) {
    const auto many = data::range(most);
    BOOST_TEST(says([&] { many | data::repeat(2); }, "repeat", "2 times 9223372036854775807"));
    BOOST_TEST(says([&] { data::concatenate(data::range(1), many); }, "concatenate", "1 and 9223372036854775807"));
    const auto pairs = [](i64 e) { return std::array<i64, 2>{e, e}; };
    BOOST_TEST(says([&] { many | data::flat_map(pairs); }, "flat_map", "2 times 9223372036854775807"));
}

BOOST_AUTO_TEST_CASE(places_far_away_cost_nothing) {
    const auto s = data::range(most) | data::skip(5) | data::shard(1000, 7) | data::window(2);
    decltype(s)::state state{};
    s.begin(state, 0);
    BOOST_TEST(s.size() == 4611686018427388);
    BOOST_TEST((s.get(state, s.size() - 1) == numbers{9223372036854774012, 9223372036854775012}));
    const auto e = data::from(data::endless, [](i64 i) { return i; });
    BOOST_TEST((e | data::skip(3)).size() == data::endless);
    BOOST_TEST((e | data::repeat(3)).size() == data::endless);
    BOOST_TEST((reading::rest(e | data::repeat(3) | data::skip(1'000'000'000'000) | data::take(2), 1)
                == numbers{1'000'000'000'000, 1'000'000'000'001}));
    BOOST_TEST(data::concatenate(e, data::range(3)).size() == data::endless);
    BOOST_TEST((reading::rest(data::concatenate(data::range(2), e) | data::take(3), 0) == numbers{0, 1, 0}));
    BOOST_TEST((reading::rest(data::concatenate(e, data::range(2)) | data::take(3), 0) == numbers{0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(a_reader_can_go_on_after_an_error) {
    BOOST_TEST((despite_errors(damaged(5, 2)) == numbers{0, 1, -1, 3, 4}));
    BOOST_TEST((despite_errors(damaged(5, 2) | data::take(4)) == numbers{0, 1, -1, 3, 4}));
    BOOST_TEST((despite_errors(damaged(5, 0) | data::skip(2)) == numbers{-1, 3, 4}));
    BOOST_TEST((despite_errors(damaged(3, 1) | data::repeat(2)) == numbers{0, -1, 2, 0, -1, 2}));
    BOOST_TEST((despite_errors(damaged(5, 2) | data::take_while([](i64 e) { return e < 4; })) == numbers{0, 1, -1, 3}));
    BOOST_TEST((despite_errors(damaged(5, 2) | data::scan(i64{0}, [](i64 s, i64 e) { return std::pair(s + e, s); })) ==
                numbers{0, 0, -1, 1, 4}));
    const auto twice = [](i64 e) {
        if (e == 1) throw data_error("damaged", "a test", {}, {});
        return numbers{e, e};
    };
    BOOST_TEST((despite_errors(damaged(5, 3) | data::flat_map(twice)) == numbers{0, 0, -1, 2, 2, -1, 4, 4}));
    BOOST_TEST((despite_errors(data::concatenate(damaged(2, 0), data::range(2))) == numbers{-1, 1, 0, 1}));
    const auto pairs = data::zip(damaged(5, 2), data::range(5), damaged(5, 3));
    using three = std::tuple<i64, i64, i64>;
    BOOST_TEST((despite_errors(pairs, three{-1, -1, -1}) ==
                std::vector<three>{{0, 0, 0}, {1, 1, 1}, {-1, -1, -1}, {-1, -1, -1}, {4, 4, 4}}));
    BOOST_TEST((despite_errors(damaged(6, 3) | data::window(2), numbers{-1}) ==
                std::vector<numbers>{{0, 1}, {-1}, {2, 4}, {5}}));
}

BOOST_AUTO_TEST_CASE(an_error_in_a_repetition_leaves_the_state_good) {
    const auto s = data::range(3) | data::map([](i64 e) {
        if (e == 1) throw data_error("damaged", "a test", {}, {});
        return e;
    }) | data::repeat(2);
    decltype(s)::state state{};
    s.begin(state, 0);
    BOOST_CHECK_THROW(s.get(state, 4), data_error);
    BOOST_TEST(s.get(state, 5) == 2);
    BOOST_TEST(s.get(state, 0) == 0);
}

BOOST_AUTO_TEST_CASE(descriptions_name_stages_and_settings) {
    description d;
    (data::zip(data::range(9) | data::shard(3, 1), data::range(4) | data::repeat()) | data::take(5) | data::skip(1) |
     data::window(3, {.shift = 2}))
        .describe(d);
    for (const char* line :
         {"stage 2 (shard): shards\t3\n", "stage 2 (shard): index\t1\n", "stage 4 (repeat): times\t-1\n",
          "stage 5 (zip): pipelines\t2\n", "stage 6 (take): elements\t5\n", "stage 7 (skip): elements\t1\n",
          "stage 8 (window): size\t3\n", "stage 8 (window): shift\t2\n", "stage 8 (window): drop_remainder\tno\n"})
        BOOST_TEST(d.text().find(line) != std::string::npos, line << " is not in " << d.text());
}
