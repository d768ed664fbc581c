// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE data_text
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <sinter/data/source/text/characters.hpp>
#include <sinter/data/source/text/windows.hpp>
#include <map>
#include <numeric>

using namespace sinter;

BOOST_AUTO_TEST_CASE(characters_in_the_order_of_their_code_points) {
    const data::characters c("hé, 漢🙂h\n");
    BOOST_TEST(c.text() == "\n ,hé漢🙂");
    BOOST_TEST(c.size() == 7);
    const std::vector<std::int32_t> n = c.encode("漢h🙂é\n");
    BOOST_TEST((n == std::vector<std::int32_t>{5, 3, 6, 4, 0}));
    BOOST_TEST(c.decode(n) == "漢h🙂é\n");
    BOOST_TEST(c.encode("").empty());
    const data::characters again(c.text());
    BOOST_TEST(again.text() == c.text());

    check_error<data_error>([&] { c.encode("hé!"); }, "unknown character", "byte 3", "'!'", "7 of the vocabulary");
    check_error<data_error>([&] { c.encode("h漣"); }, "unknown character", "byte 1", "'漣'");
    check_error<data_error>([&] { c.encode("h\xff"); }, "not UTF-8", "characters");
    check_error<data_error>([] { data::characters{""}; }, "without characters", "characters");
    check_error<data_error>([] { data::characters{"\xc3"}; }, "not UTF-8", "characters");
    const std::int32_t bad[] = {0, 7}, negative[] = {-1};
    check_error<data_error>([&] { c.decode(bad); }, "no such character", "number 1", "7", "0 to 6");
    check_error<data_error>([&] { c.decode(negative); }, "no such character", "number 0", "-1");
}
BOOST_AUTO_TEST_CASE(text_files) {
    const temporary_folder folder;
    BOOST_TEST(data::read_text(write_bytes(folder / "t", "é\n")) == "é\n");
    check_error<format_error>([&] { data::read_text(write_bytes(folder / "bad", "a\xe9z")); }, "not UTF-8",
                              folder / "bad");
    BOOST_CHECK_THROW(data::read_text(folder / "absent"), io_error);
}

static std::vector<std::int32_t> counting(int n) {
    std::vector<std::int32_t> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 0);
    return x;
}
/// First numbers of the windows of one pass; each window must count on, and its labels be one ahead.
static std::vector<int> starts(data::pipeline& p, int length) {
    std::vector<int> first;
    for (const data::batch_view& b : p) {
        BOOST_REQUIRE(b.inputs.size() == 1u);
        BOOST_REQUIRE(b.inputs[0].width == length);
        BOOST_REQUIRE(b.label_width == length);
        for (int r = 0; r < b.size; ++r) {
            first.push_back(b.inputs[0].indices[r * length]);
            for (int i = 0; i < length; ++i) {
                BOOST_REQUIRE(b.inputs[0].indices[r * length + i] == first.back() + i);
                BOOST_REQUIRE(b.labels[r * length + i] == first.back() + i + 1);
            }
        }
    }
    return first;
}
BOOST_AUTO_TEST_CASE(windows_in_order) {
    auto p = data::windows(counting(14), 4) | data::batch(2);   // 13 labels
    BOOST_TEST(p.size() == 3);
    BOOST_TEST((starts(p, 4) == std::vector<int>{0, 4, 8}));
    BOOST_TEST((starts(p, 4) == std::vector<int>{0, 4, 8}));
    auto exact = data::windows(counting(13), 4) | data::batch(2);
    BOOST_TEST((starts(exact, 4) == std::vector<int>{0, 4, 8}));
}
BOOST_AUTO_TEST_CASE(lanes_go_on_from_batch_to_batch) {
    auto p = data::windows(counting(32), 5, {.lanes = 3}) | data::batch(3);   // 31 labels: ten in a lane
    BOOST_TEST(p.size() == 6);
    BOOST_TEST((starts(p, 5) == std::vector<int>{0, 10, 20, 5, 15, 25}));
}
BOOST_AUTO_TEST_CASE(random_windows_begin_anywhere) {
    auto p = data::windows(counting(24), 4, {.random = 4000, .seed = 3}) | data::batch(64);
    const std::vector<int> first = starts(p, 4), second = starts(p, 4);
    BOOST_TEST(first.size() == 4000u);
    BOOST_TEST((first != second));
    std::map<int, int> times;
    for (const int i : first) ++times[i];
    BOOST_TEST(times.size() == 20u);   // 0 to 19: the last window's last label is the last number
    for (const auto& [start, n] : times) {
        BOOST_TEST(start >= 0);
        BOOST_TEST(start <= 19);
        BOOST_TEST(std::abs(n - 200) < 75);   // more than five standard deviations of a binomial
    }
    p.rewind();
    BOOST_TEST((starts(p, 4) == first));
    auto other = data::windows(counting(24), 4, {.random = 4000, .seed = 4}) | data::batch(64);
    BOOST_TEST((starts(other, 4) != first));
    auto shortest = data::windows(counting(5), 4, {.random = 3}) | data::batch(2);
    BOOST_TEST((starts(shortest, 4) == std::vector<int>{0, 0, 0}));
}
BOOST_AUTO_TEST_CASE(seek_leads_to_the_same_windows) {
    const auto make = [](std::int64_t random, bool shuffled) {
        auto w = data::windows(counting(1000), 7, {.random = random, .seed = 1});
        return shuffled ? std::move(w) | data::shuffle(50, 2) | data::batch(8) : std::move(w) | data::batch(8);
    };
    for (const std::int64_t random : {0, 100})
        for (const bool shuffled : {false, true}) {
            auto p = make(random, shuffled);
            starts(p, 7);
            for (int i = 0; i < 5; ++i) p.next();
            const data::position at = p.position();
            const std::vector<int> rest = starts(p, 7);
            auto fresh = make(random, shuffled);
            fresh.seek(at);
            BOOST_TEST((starts(fresh, 7) == rest));
        }
}
BOOST_AUTO_TEST_CASE(what_does_not_fit) {
    check_error<data_error>([] { data::windows(counting(4), 4); }, "does not fit", "windows", "4 numbers", "5 to 2^31");
    check_error<data_error>([] { data::windows(counting(12), 4, {.lanes = 3}); }, "does not fit", "windows",
                            "12", "13");
    check_error<data_error>([] { data::windows({}, 1); }, "does not fit", "windows");
    check_error<option_error>([] { data::windows(counting(9), 0); }, "impossible length", "windows", "0");
    check_error<option_error>([] { data::windows(counting(9), 4, {.random = -1}); }, "random windows", "windows", "-1");
    check_error<option_error>([] { data::windows(counting(9), 4, {.lanes = 0}); }, "lanes", "windows", "0");
    check_error<option_error>([] { data::windows(counting(90), 4, {.random = 5, .lanes = 2}); }, "in order",
                              "windows", "2");
}
