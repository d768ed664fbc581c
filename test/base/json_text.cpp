// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE json_text
#include <boost/test/unit_test.hpp>
#include <sinter/base/json_text.hpp>
#include <limits>

using namespace sinter;

BOOST_AUTO_TEST_CASE(strings_are_escaped) {
    BOOST_TEST(json::text("plain") == "\"plain\"");
    BOOST_TEST(json::text("a\"b\\c\n\t\r\b\f") == R"("a\"b\\c\n\t\r\b\f")");
    BOOST_TEST(json::text(std::string("\0\x1f\x7f", 3)) == R"("\u0000\u001f\u007f")");
    BOOST_TEST(json::text("gr\xc3\xbc\xc3\x9f \xf0\x9f\x8e\x89") == "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x8e\x89\"");
}

BOOST_AUTO_TEST_CASE(what_is_not_utf8_is_replaced) {
    const std::string replaced = "\xef\xbf\xbd";
    BOOST_TEST(json::text("a\xff" "b") == "\"a" + replaced + "b\"");
    BOOST_TEST(json::text("\xc3") == "\"" + replaced + "\"");                          // cut short
    BOOST_TEST(json::text("\xc3(") == "\"" + replaced + "(\"");                        // what follows is kept
    BOOST_TEST(json::text("\xed\xa0\x80") == "\"" + replaced + replaced + replaced + "\"");   // a surrogate
    BOOST_TEST(json::text("\xc0\"") == "\"" + replaced + "\\\"\"");                    // cannot smuggle a quote
}

BOOST_AUTO_TEST_CASE(numbers_read_back_as_themselves) {
    BOOST_TEST(json::text(0.1) == "0.1");
    BOOST_TEST(json::text(5.0) == "5");
    BOOST_TEST(json::text(1e300) == "1e+300");
    BOOST_TEST(json::text(std::numeric_limits<double>::quiet_NaN()) == "null");
    BOOST_TEST(json::text(-std::numeric_limits<double>::infinity()) == "null");
    BOOST_TEST(json::text(-7) == "-7");
    BOOST_TEST(json::text(std::uint64_t{18446744073709551615u}) == "18446744073709551615");
    BOOST_TEST(json::text(true) == "true");
}
