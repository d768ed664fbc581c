// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE whole_number
#include <boost/test/unit_test.hpp>
#include <sinter/base/whole_number.hpp>
#include <charconv>
#include <random>
#include <string>

using namespace sinter;

BOOST_AUTO_TEST_CASE(reads_what_from_chars_reads_whole) {
    std::mt19937_64 draw(1);
    std::string texts[] = {"", "0", "007", "18446744073709551615", "18446744073709551616", "99999999999999999999", "-1",
                           "+1", " 1", "1 ", "1x", "0x10", "1.0"};
    for (int i = 0; i < 1000; ++i) {
        std::string text = i < 13 ? texts[i] : std::to_string(draw() >> draw() % 64);
        if (i % 7 == 6) text += static_cast<char>('0' + draw() % 10);   // now and then more than 64 bits hold
        std::uint64_t got = 5, right = 5;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), right);
        const bool whole = fault == std::errc{} && end == text.data() + text.size();
        BOOST_TEST_CONTEXT(text) {
            BOOST_CHECK_EQUAL(base::read_whole_number(text, got), whole);
            BOOST_CHECK_EQUAL(got, whole ? right : 5);
        }
    }
}

BOOST_AUTO_TEST_CASE(takes_from_the_front_what_from_chars_takes) {
    std::mt19937_64 draw(2);
    const std::string texts[] = {"", "-", "--1", "-0", "007 8", "9223372036854775807", "9223372036854775808",
                                 "-9223372036854775808", "-9223372036854775809", "99999999999999999999 1", "+1", " 1"};
    for (std::size_t i = 0; i < 1000; ++i) {
        std::string text =
            i < std::size(texts) ? texts[i] : std::to_string(static_cast<std::int64_t>(draw()) >> draw() % 64);
        if (i % 3 == 2) text += i % 2 ? " 12" : "x";
        std::int64_t got = 5, right = 5;
        std::string_view rest = text;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), right);
        const bool taken = fault == std::errc{};
        BOOST_TEST_CONTEXT(text) {
            BOOST_CHECK_EQUAL(base::take_number(rest, got), taken);
            BOOST_CHECK_EQUAL(got, taken ? right : 5);
            BOOST_CHECK_EQUAL(rest.size(), text.size() - static_cast<std::size_t>(taken ? end - text.data() : 0));
        }
    }
}
