// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE data_stages_print
#include <boost/test/unit_test.hpp>
#include <sinter/data/stages/apply.hpp>
#include <sinter/data/stages/enumerate.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/print.hpp>
#include <sinter/data/stages/reduce.hpp>
#include <sinter/data/stages/repeat.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/data/stages/take.hpp>
#include <sinter/data/stages/zip.hpp>
#include <optional>

using namespace sinter;

namespace {

enum class colour : std::uint8_t { red, green };
struct place { float longitude, latitude; };
struct visit {
    std::string who;
    place where;
    std::array<float, 3> x;
    int counts[2];
    char letters[2];
    bool again;
    colour shirt;
    std::optional<int> age;
    std::vector<place> seen;
    std::array<std::string, 2> words;
    data::extra<std::int64_t> number;
};
struct picture {
    data::pixels<1, 2, 3> image;
    std::int8_t digit;
};
/// What elements may be and text does not show.
class closed {
public:
    closed() {}
};

std::vector<visit> visits() {
    return {{"Ann \"A\"\n", {1.5f, -2}, {0.1f, 1, 2}, {3, 4}, {'a', 'b'}, true, colour::green, {}, {{1, 2}}, {"a", ""},
             {7}},
            {"", {}, {}, {}, {}, false, colour::red, 30, {}, {}, {-1}}};
}

} // namespace

BOOST_AUTO_TEST_CASE(fields_have_their_names) {
    BOOST_TEST(data::text_of_elements(data::rows(visits()), 5) ==
               "who: \"Ann \\\"A\\\"\\x0a\", where: {longitude: 1.5, latitude: -2}, x: [0.1, 1, 2], counts: [3, 4], "
               "letters: [97, 98], again: true, shirt: 1, age: none, seen: [{longitude: 1, latitude: 2}], "
               "words: [\"a\", \"\"], number: 7\n"
               "who: \"\", where: {longitude: 0, latitude: 0}, x: [0, 0, 0], counts: [0, 0], "
               "letters: [0, 0], again: false, shirt: 0, age: 30, seen: [], words: [\"\", \"\"], number: -1\n");
    BOOST_TEST(data::text_of_elements(data::rows(std::vector<picture>{{{{1, 2, 3, 4, 5, 255}}, -8}})) ==
               "image: 1 x 2 x 3 [1, 2, 3, 4, 5, 255], digit: -8\n");
}

BOOST_AUTO_TEST_CASE(numbers_tuples_and_lists) {
    BOOST_TEST(data::text_of_elements(data::range(100), 3) == "0\n1\n2\n");
    BOOST_TEST(data::text_of_elements(data::range(2)) == "0\n1\n");
    BOOST_TEST(data::text_of_elements(data::range(2), 0).empty());
    BOOST_TEST(data::text_of_elements(data::zip(data::range(2), data::range(5) | data::enumerate(7))) ==
               "(0, (7, 0))\n(1, (8, 1))\n");
    BOOST_TEST(data::text_of_elements(data::rows(std::vector{std::vector<int>(784, 3), std::vector<int>(12, 1)})) ==
               "[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, ... 784 in all]\n[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
    BOOST_TEST(data::text_of_elements(data::rows(std::vector<std::vector<bool>>{{true, false}})) == "[true, false]\n");
    BOOST_TEST(data::text_of_elements(data::rows(std::vector<std::string>{"x"})) == "\"x\"\n");
    BOOST_TEST(data::text_of_elements(data::rows(std::vector<std::array<std::string, 1>>{{"x"}})) == "[\"x\"]\n");
    BOOST_TEST(data::text_of_elements(data::rows(std::vector<closed>(1))).find("closed\n") != std::string::npos);
    BOOST_CHECK_THROW(data::text_of_elements(data::range(2), -1), option_error);
}

BOOST_AUTO_TEST_CASE(a_pass_can_be_chosen) {
    const auto s = data::range(9) | data::shuffle();
    BOOST_TEST(data::text_of_elements(s, 9, 0) != data::text_of_elements(s, 9, 1));
    BOOST_TEST(data::text_of_elements(s, 9, 1) == data::text_of_elements(s, 9, 1));
    data::print(s | data::take(2));
}

BOOST_AUTO_TEST_CASE(reduce_folds_one_pass) {
    const auto longest = [](std::string so_far, const visit& v) {
        return v.who.size() > so_far.size() ? v.who : so_far;
    };
    BOOST_TEST(data::reduce(data::rows(visits()), std::string("?"), longest) == "Ann \"A\"\n");
    BOOST_TEST(data::reduce(data::range(0), 5, [](int s, std::int64_t) { return s + 1; }) == 5);
    const auto order = [](std::int64_t s, std::int64_t e) { return 10 * s + e; };
    const auto s = data::range(9) | data::shuffle();
    BOOST_TEST(data::reduce(s, std::int64_t{0}, order, 1) != data::reduce(s, std::int64_t{0}, order, 2));
    BOOST_CHECK_THROW(data::reduce(data::range(3) | data::repeat(), std::int64_t{0}, order), option_error);
}

BOOST_AUTO_TEST_CASE(apply_is_a_part_of_a_pipeline) {
    const auto part = [](auto stages) {
        return std::move(stages) | data::map([](std::int64_t e) { return 2 * e; }) | data::take(2);
    };
    BOOST_TEST(data::text_of_elements(data::range(5) | data::apply(part) | data::enumerate()) == "(0, 0)\n(1, 2)\n");
}
