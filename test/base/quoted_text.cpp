// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE quoted_text
#include <boost/test/unit_test.hpp>
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/quoted_text.hpp>

using namespace std::string_literals;
using sinter::base::quoted_text;

BOOST_AUTO_TEST_CASE(text_is_kept_and_what_would_drive_a_terminal_is_not) {
    BOOST_TEST(quoted_text("") == R"("")");
    BOOST_TEST(quoted_text("node 1") == R"("node 1")");
    BOOST_TEST(quoted_text("a\"b\\c'd") == R"("a\"b\\c'd")");
    BOOST_TEST(quoted_text("a\"b\\c'd", 100, '\'') == R"('a"b\c'd')");
    BOOST_TEST(quoted_text("\0\x1b[2J\n\x7f"s) == R"("\x00\x1b[2J\x0a\x7f")");
    BOOST_TEST(quoted_text("\xc2\x9b" "2J") == R"("\xc2\x9b2J")");   // CSI as one character
    BOOST_TEST(quoted_text("\xc2\xa0gr\xc3\xbc\xc3\x9f \xf0\x9f\x8e\x89") ==
               "\"\xc2\xa0gr\xc3\xbc\xc3\x9f \xf0\x9f\x8e\x89\"");
}
BOOST_AUTO_TEST_CASE(what_is_not_utf8_is_shown_as_bytes) {
    BOOST_TEST(quoted_text("a\xff" "b\xb3") == R"("a\xffb\xb3")");
    BOOST_TEST(quoted_text("\xc3") == R"("\xc3")");                     // cut short
    BOOST_TEST(quoted_text("\xc3\"") == R"("\xc3\"")");                 // what follows keeps its \.
    BOOST_TEST(quoted_text("\xed\xa0\x80") == R"("\xed\xa0\x80")");     // a surrogate
    BOOST_TEST(quoted_text("\xc0\x9b") == R"("\xc0\x9b")");             // an overlong form
    BOOST_TEST(quoted_text("\xf0\x9f\x8e") == R"("\xf0\x9f\x8e")");
}
BOOST_AUTO_TEST_CASE(long_text_is_cut_between_characters) {
    BOOST_TEST(quoted_text("12345", 5) == R"("12345")");
    BOOST_TEST(quoted_text("123456", 5) == R"("12345"... (6 bytes))");
    BOOST_TEST(quoted_text("1234\xc3\xbc", 5) == R"("1234"... (6 bytes))");
    BOOST_TEST(quoted_text("1234\xff\xff", 5) == R"("1234\xff"... (6 bytes))");
    BOOST_TEST(quoted_text("x", 0) == R"(""... (1 bytes))");
}

// What another process says, or a user's exception, drives no terminal by a job's error; nor does a character that was
// cut in its middle leave a message that is not UTF-8.
BOOST_AUTO_TEST_CASE(errors_of_jobs_are_one_line) {
    const std::string told = "gr\xc3\xbc\xc3\x9f 'a' \"b\" \\ c";
    BOOST_TEST(sinter::base::one_line(told) == told);
    BOOST_TEST(sinter::base::one_line(sinter::base::one_line("a\nb\x80")) == "a\\x0ab\\x80");
    const sinter::cluster_error e(3, "worker/\x1b[2J", "h\x9b:1", "sum of\rb", 7, "lost\n\xc2\x9b and \xc3");
    BOOST_TEST(std::string(e.what()) ==
               "rank 3, worker/\\x1b[2J at h\\x9b:1, sum of\\x0db, step 7: lost\\x0a\\xc2\\x9b and \\xc3");
    BOOST_TEST(e.role() == "worker/\\x1b[2J");
    BOOST_TEST(e.address() == "h\\x9b:1");
    BOOST_TEST(e.operation() == "sum of\\x0db");
    BOOST_TEST(e.cause() == "lost\\x0a\\xc2\\x9b and \\xc3");
}

// A name of a file is the user's, or a stranger's: as a whole it drives no terminal, and a log has one line of it.
BOOST_AUTO_TEST_CASE(what_an_error_says_drives_no_terminal) {
    const std::string name = "a\x1b[31m\nb\x80";
    const sinter::io_error e("cannot open", name, "no\ntext", "one of:\n  x\r");
    BOOST_TEST(std::string(e.what()) ==
               "a\\x1b[31m\\x0ab\\x80: cannot open; got no\\x0atext; needed one of:\n  x\\x0d");
    BOOST_TEST(e.where() == name);   // the parts are as they were
    BOOST_TEST(e.got() == "no\ntext");
}
