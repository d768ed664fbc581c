// SPDX-License-Identifier: BSL-1.0
// shows data: files that are read in turns go on at each element
#define BOOST_TEST_MODULE interleave
#include <boost/test/unit_test.hpp>
#include "fixtures/tf_data_files.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/stage_places.hpp"
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/interleave.hpp>
#include <sinter/data/stages/list_files.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/text_lines.hpp>

using namespace sinter;

namespace {
template <class S>
std::vector<int> numbers(const S& stages, std::int64_t pass = 0) {
    return elements_from_everywhere(stages, [](std::int64_t n) { return static_cast<int>(n); }, pass);
}
} // namespace

BOOST_AUTO_TEST_CASE(in_tensorflows_order) {
    for (const auto& t : tf_data_files::interleaves) {
        const data::interleave_options o{t.cycle, t.block};
        const auto indexed = data::range(t.n) | data::interleave([](std::int64_t x) {
            return data::range(10 * x, 10 * x + (x * 5 + 3) % 7);
        }, o);
        BOOST_TEST(numbers(indexed) == t.all, boost::test_tools::per_element());
        const auto streams = data::range(t.n) | data::filter([](std::int64_t) { return true; }) |
                             data::interleave([](std::int64_t x) {
                                 return data::range(10 * x, 10 * x + 10) | data::filter([x](std::int64_t i) {
                                     return i < 10 * x + (x * 5 + 3) % 7;
                                 });
                             }, o);
        BOOST_TEST(numbers(streams) == t.all, boost::test_tools::per_element());
    }
    const auto docstring = data::range(1, 6) | data::interleave([](std::int64_t x) {   // tf.data's own example
        return data::from(6, [x](std::int64_t) { return x; });
    }, {.cycle = 2, .block = 4});
    const std::vector wanted{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5};
    BOOST_TEST((numbers(docstring) == wanted));
}

BOOST_AUTO_TEST_CASE(of_interleaved_pipelines) {
    const auto nested = data::range(3) | data::interleave([](std::int64_t x) {
        return data::range(2) | data::interleave([x](std::int64_t y) {
            return data::range(3) | data::map([x, y](std::int64_t z) { return 100 * x + 10 * y + z; });
        }, {.cycle = 2});
    }, {.cycle = 2, .block = 2});
    BOOST_TEST((numbers(nested) == std::vector<int>{0, 10, 100, 110, 1, 11, 101, 111, 2, 12, 102, 112, 200, 210, 201,
                                                    211, 202, 212}));
}

BOOST_AUTO_TEST_CASE(passes_are_those_of_what_is_in_it) {
    const auto shuffled = data::range(4) | data::shuffle({.seed = 1}) | data::interleave([](std::int64_t x) {
        return data::range(10 * x, 10 * x + 5) | data::shuffle({.seed = 2});
    }, {.cycle = 3, .block = 2});
    BOOST_TEST((numbers(shuffled, 0) != numbers(shuffled, 1)));
    BOOST_TEST((numbers(shuffled, 1) == numbers(shuffled, 1)));
    auto all = numbers(shuffled, 7);
    std::sort(all.begin(), all.end());
    BOOST_TEST((all == std::vector<int>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 30, 31, 32, 33, 34}));
}

BOOST_AUTO_TEST_CASE(files) {
    temporary_folder folder;
    for (int f = 0; f < 5; ++f) {
        std::string text;
        for (int i = 0; i < f; ++i) text += std::to_string(10 * f + i) + '\n';
        write_bytes(folder / std::to_string(f), text);
    }
    const auto lines = data::list_files(folder / "*", {.shuffle = false}) |
                       data::interleave([](const std::string& path) { return data::text_lines(path); }, {.cycle = 3}) |
                       data::map([](const std::string& line) { return std::stoll(line); });
    BOOST_TEST((numbers(lines) == std::vector<int>{10, 20, 30, 21, 31, 40, 32, 41, 42, 43}));
}

BOOST_AUTO_TEST_CASE(what_goes_wrong_within) {
    temporary_folder folder;
    write_bytes(folder / "a", "1\n2\n");
    write_bytes(folder / "c", "5\n6\n");
    const std::vector<std::string> paths{folder / "a", folder / "b", folder / "c"};
    const auto lines_of = [](const std::string& path) { return data::text_lines(path); };
    const auto lines = data::rows(paths) | data::interleave(lines_of, {.cycle = 2});
    using stage = std::remove_const_t<decltype(lines)>;
    stage::state s{};
    stage::cursor c{};
    std::string all;
    int errors = 0;
    for (bool more = true; more;) try {
            stage::ticket k{};
            more = lines.next(s, c, k);
            if (more) all += lines.get(s, k);
        } catch (const io_error& e) {
            BOOST_TEST(holds(e.where(), "/b"));
            BOOST_TEST_REQUIRE(++errors < 10);
        }
    BOOST_TEST(all == "1526");   // b is left out, c takes its place
    BOOST_TEST(errors == 1);
    stage::ticket k{};
    BOOST_TEST(lines.fits(c));
    for (const std::int64_t turn : {-1, 2, 7}) {
        stage::cursor other = c;
        other.turn = turn;
        BOOST_TEST(!lines.fits(other));
    }

    const stage fewer = data::rows(std::vector<std::string>{paths[0]}) | data::interleave(lines_of, {.cycle = 2});
    stage::cursor of_more{};
    stage::state fresh{}, other{};
    lines.next(fresh, of_more, k);
    for (auto& slot : of_more.slots)
        if (slot.number >= 0) slot.made_of = 2;
    of_more.turn = 0;
    check_error<data_error>([&] { fewer.next(other, of_more, k); }, "there are fewer elements than before",
                            "interleave");
    const auto make = [](std::int64_t) { return data::range(1); };
    check_error<option_error>([&] { data::interleave(make, {.cycle = 0}); }, "impossible cycle", "interleave", "0");
    check_error<option_error>([&] { data::interleave(make, {.block = 0}); }, "impossible block", "interleave", "0");
}
