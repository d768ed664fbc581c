// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE stages_source
#include <boost/test/unit_test.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/source.hpp>
#include <string>

// Where typed elements come from: memory, or their number.
using namespace sinter;

namespace {

constexpr std::int64_t least = INT64_MIN, most = INT64_MAX;

template <class Stages>
auto all_of(const Stages& s, std::int64_t pass = 0) {
    std::vector<typename Stages::value_type> all;
    for (const auto& e : data::elements(s, pass)) all.push_back(e);
    return all;
}
using list = std::vector<std::int64_t>;

} // namespace

BOOST_AUTO_TEST_CASE(rows_are_kept_and_not_copied) {
    std::vector<std::string> texts{"a", "b", "c"};
    const std::string* const where = texts.data();
    const auto s = data::rows(std::move(texts));
    const auto again = s;   // stages are values
    decltype(s)::state state;
    BOOST_TEST(&again.get(state, 1) == where + 1);
    for (const std::int64_t pass : {0, 1, 5}) BOOST_TEST(all_of(s, pass) == (std::vector<std::string>{"a", "b", "c"}));
    BOOST_TEST(s.size() == 3);
    BOOST_TEST(data::rows(std::vector<float>{}).size() == 0);
    BOOST_TEST(all_of(data::rows(std::vector<float>{})).empty());
    const auto shared = std::make_shared<const std::vector<int>>(3, 7);
    BOOST_TEST(all_of(data::rows(shared)) == (std::vector<int>{7, 7, 7}));
    BOOST_CHECK_THROW(data::rows(std::shared_ptr<const std::vector<int>>()), option_error);
}

BOOST_AUTO_TEST_CASE(elements_are_computed_from_their_number) {
    const auto s = data::from(4, [](std::int64_t i) { return std::to_string(i * i); });
    BOOST_TEST(all_of(s) == (std::vector<std::string>{"0", "1", "4", "9"}));
    BOOST_TEST(all_of(data::from(0, [](std::int64_t i) { return i; })).empty());
    BOOST_CHECK_THROW(data::from(-1, [](std::int64_t i) { return i; }), option_error);
    BOOST_CHECK_THROW(data::from(data::endless - 1, [](std::int64_t i) { return i; }), option_error);
    const auto endless = data::from(data::endless, [](std::int64_t i) { return i; });
    BOOST_TEST(endless.size() == data::endless);
    list first;
    for (const std::int64_t i : data::elements(endless)) {
        first.push_back(i);
        if (i == 4) break;
    }
    BOOST_TEST(first == (list{0, 1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(ranges_are_those_of_python) {
    for (std::int64_t first = -7; first <= 7; ++first)
        for (std::int64_t last = -7; last <= 7; ++last)
            for (const std::int64_t step : {-5, -3, -2, -1, 1, 2, 3, 5}) {
                list expected;
                for (std::int64_t i = first; step > 0 ? i < last : i > last; i += step) expected.push_back(i);
                const auto s = data::range(first, last, step);
                BOOST_TEST_REQUIRE(s.size() == static_cast<std::int64_t>(expected.size()));
                BOOST_TEST_REQUIRE(all_of(s) == expected);
            }
    BOOST_TEST(all_of(data::range(3)) == (list{0, 1, 2}));
    BOOST_TEST(data::range(0).size() == 0);
    BOOST_TEST(data::range(-3).size() == 0);
    BOOST_CHECK_THROW(data::range(0, 5, 0), option_error);
}

BOOST_AUTO_TEST_CASE(ranges_reach_the_ends_of_their_type) {
    const std::int64_t half = std::int64_t{1} << 62;
    BOOST_TEST(all_of(data::range(least, most, half)) == (list{least, -half, 0, half}));
    BOOST_TEST(all_of(data::range(most, least, -half)) == (list{most, most - half, -1, -1 - half}));
    BOOST_TEST(all_of(data::range(most, least, least)) == (list{most, -1}));
    BOOST_TEST(all_of(data::range(0, least, least)) == (list{0}));
    BOOST_TEST(all_of(data::range(most - 1, most)) == (list{most - 1}));
    BOOST_TEST(data::range(0, most).size() == most);
    BOOST_TEST(data::range(-1, most - 1).size() == most);
    BOOST_CHECK_THROW(data::range(-1, most), option_error);
    BOOST_CHECK_THROW(data::range(least, most), option_error);
    BOOST_TEST(data::range(least, most, 3).size() == static_cast<std::int64_t>(UINT64_MAX / 3));
}
