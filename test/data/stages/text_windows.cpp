// SPDX-License-Identifier: BSL-1.0
// shows data: windows of a sequence of tokens as elements
#define BOOST_TEST_MODULE text_windows
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include "io/error_parts.hpp"
#include <sinter/data/source/text/windows.hpp>
#include <sinter/data/stages/text_windows.hpp>

using namespace sinter;

namespace {
std::vector<std::int32_t> tokens_of(std::int32_t n) {
    std::vector<std::int32_t> all;
    for (std::int32_t i = 0; i < n; ++i) all.push_back(100 + i);
    return all;
}
std::vector<std::vector<std::int32_t>> windows_of(const std::vector<std::int32_t>& all, std::size_t n,
                                                  std::size_t step) {
    std::vector<std::vector<std::int32_t>> found;
    for (std::size_t at = 0; at + n <= all.size(); at += step)
        found.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                           all.begin() + static_cast<std::ptrdiff_t>(at + n));
    return found;
}
} // namespace

BOOST_AUTO_TEST_CASE(windows) {
    using w3 = data::text_window<3>;
    const auto all = tokens_of(10);
    reading::check(data::text_windows<3>(all), 0,
                   std::vector<w3>{{{100, 101, 102}, {101, 102, 103}}, {{103, 104, 105}, {104, 105, 106}},
                                   {{106, 107, 108}, {107, 108, 109}}}, 3);
    for (std::int64_t n = 1; n < 14; ++n)
        for (std::int64_t step = 1; step < 6; ++step) {
            const auto some = tokens_of(static_cast<std::int32_t>(n));
            const auto at = static_cast<std::size_t>(step);
            if (n >= 3) {
                const auto expected = windows_of(some, 3, at);
                reading::check(data::text_windows(some, 3, step), 0, expected,
                               static_cast<std::int64_t>(expected.size()));
            }
            if (n < 4) continue;
            std::vector<w3> expected;
            for (const auto& w : windows_of(some, 4, at)) expected.push_back({{w[0], w[1], w[2]}, {w[1], w[2], w[3]}});
            reading::check(data::text_windows<3>(some, {.step = step}), 0, expected,
                           static_cast<std::int64_t>(expected.size()));
        }
    reading::check(data::text_windows(all, 4), 0, windows_of(all, 4, 4), 2);
}

BOOST_AUTO_TEST_CASE(windows_in_lanes) {   // as data::windows() has them, from which models take batches
    for (const int lanes : {1, 2, 3})
        for (const int n : {7, 8, 13, 20, 31}) {
            auto old = data::windows(tokens_of(n), 2, {.lanes = lanes}).release();
            const auto stages = data::text_windows<2>(tokens_of(n), {.lanes = lanes});
            BOOST_TEST(stages.size() == old->size());
            old->begin(0);
            data::text_windows_stage<data::text_window<2>>::state s{};
            for (std::int64_t i = 0; i < stages.size(); ++i) {
                const void* rows[2];
                BOOST_TEST_REQUIRE(old->next(rows));
                const auto w = stages.get(s, i);
                BOOST_TEST(std::memcmp(rows[0], w.tokens.data(), sizeof w.tokens) == 0);
                BOOST_TEST(std::memcmp(rows[1], w.next.data(), sizeof w.next) == 0);
            }
        }
}

BOOST_AUTO_TEST_CASE(windows_that_cannot_be) {
    check_error<data_error>([] { data::text_windows<3>(tokens_of(3)); }, "too short", "text_windows", "3 tokens",
                            "3 and one more");
    check_error<data_error>([] { data::text_windows<3>({}); }, "too short", "text_windows", "0 tokens");
    check_error<data_error>([] { data::text_windows<3>(tokens_of(6), {.lanes = 2}); }, "too short", "text_windows",
                            "6 tokens", "for each lane");
    check_error<data_error>([] { data::text_windows(tokens_of(3), 4); }, "too short", "text_windows", "3", "4");
    check_error<option_error>([] { data::text_windows(tokens_of(3), 0); }, "length of a window", "text_windows", "0");
    check_error<option_error>([] { data::text_windows(tokens_of(3), INT64_MAX); }, "length of a window", "", "9223");
    check_error<option_error>([] { data::text_windows<1>(tokens_of(3), {.step = -1}); }, "step", "text_windows", "-1");
    check_error<option_error>([] { data::text_windows<1>(tokens_of(3), {.lanes = 0}); }, "lanes", "text_windows", "0");
    BOOST_TEST(data::text_windows<1>(tokens_of(3), {.step = std::int64_t{1} << 40}).size() == 1);
}
