// SPDX-License-Identifier: BSL-1.0
// shows data: numbers keep the digits of their file
// needs: zlib
#define BOOST_TEST_MODULE data_csv
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/run_command.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include "support/source_folder.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/source/csv/table.hpp>
#include <cmath>
#include <zlib.h>

using namespace sinter;
namespace csv = data::csv;

using rows = std::vector<std::vector<std::string>>;
static rows held(const csv::table& t) {
    rows all;
    for (std::int64_t r = 0; r < t.rows(); ++r) {
        all.emplace_back();
        for (std::int64_t c = 0; c < t.columns(); ++c) all.back().emplace_back(t.at(r, c).text);
    }
    return all;
}
static rows held(const std::string& text, const csv::options& o = {.header = false}) {
    return held(csv::parse(text, "t", o));
}
static bool same(const rows& got, const rows& wanted) {
    for (const auto& r : got)
        for (const auto& f : r) BOOST_TEST_MESSAGE("field '" << f << '\'');
    return got == wanted;
}

BOOST_AUTO_TEST_CASE(rfc_4180) {
    // its rule 1
    BOOST_TEST(same(held("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n"), {{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}}));
    BOOST_TEST(same(held("aaa,bbb\r\nzzz,yyy"), {{"aaa", "bbb"}, {"zzz", "yyy"}}));                             // 2
    BOOST_TEST(same(held("\"aaa\",\"b\r\nb\"\r\nzzz,y y"), {{"aaa", "b\r\nb"}, {"zzz", "y y"}}));              // 5, 6
    BOOST_TEST(same(held("\"aaa\",\"b\"\"b,\"\n"), {{"aaa", "b\"b,"}}));                                        // 7
    BOOST_TEST(same(held("\"\"\"\",\"\"\n"), {{"\"", ""}}));
    BOOST_TEST(same(held(",\n,\n"), {{"", ""}, {"", ""}}));
    BOOST_TEST(same(held("a,b,"), {{"a", "b", ""}}));
    BOOST_TEST(same(held("a\r"), {{"a"}}));
    BOOST_TEST(same(held(""), {}));
    BOOST_TEST(same(held("\n\r\n\n"), {}));
    BOOST_TEST(same(held("a\n\n\"\"\n\nb\n\n"), {{"a"}, {""}, {"b"}}));
    BOOST_TEST(same(held("\xef\xbb\xbf\"a\",b\n"), {{"a", "b"}}));
    BOOST_TEST(same(held("\xef\xbc\xa1,b\n"), {{"\xef\xbc\xa1", "b"}}));   // a letter that begins like the mark
    BOOST_TEST(same(held("a;\"b;\"\n", {.delimiter = ';', .header = false}), {{"a", "b;"}}));
}
BOOST_AUTO_TEST_CASE(columns_have_names) {
    const csv::table t = csv::parse("age,\"full name\"\n1,x\n2,y\n", "people.csv");
    BOOST_TEST(t.rows() == 2);
    BOOST_TEST(t.column("full name") == 1);
    BOOST_TEST(t.at(1, t.column("full name")).text == "y");
    check_error<data_error>([&] { t.column("Age"); }, "no such column", "people.csv", "'Age'", "'age, full name'");
    const csv::table given = csv::parse("1,x\n", "t", {.header = false, .names = {"a", "b"}});
    BOOST_TEST(given.column("b") == 1);
    const csv::table renamed = csv::parse("age,name\n1,x\n", "t", {.names = {"a", "b"}});
    BOOST_TEST(renamed.column("b") == 1);
    BOOST_TEST(renamed.rows() == 1);
    BOOST_TEST(csv::parse("1,x\n", "t", {.header = false}).column("1") == 1);
}
BOOST_AUTO_TEST_CASE(numbers_and_missing_ones) {
    const csv::table t = csv::parse("x\n1\n -2.5 \n\"+3e2\"\n?\nNA\n\"\"\n1e-60\n3.4e38\n", "t");
    const std::vector<double> x = t.numbers("x");
    BOOST_TEST(x.size() == 8u);
    BOOST_TEST(x[0] == 1.f);
    BOOST_TEST(x[1] == -2.5f);
    BOOST_TEST(x[2] == 300.f);
    for (const int i : {3, 4, 5}) BOOST_TEST(std::isnan(x[static_cast<std::size_t>(i)]));
    BOOST_TEST(x[6] == 1e-60);   // doubles: what a float cannot tell from 0 is not 0 yet
    BOOST_TEST(x[7] == 3.4e38);
    for (const char* bad : {"1,5", "x", "1x", "+-1", "+", "--1", "0x10", "inf", "-Infinity", "1e39", "1 2", "."}) {
        const std::string text = "\n\na;x\n\"two\nlines\";" + std::string(bad) + "\n";
        check_error<format_error>([&] { csv::parse(text, "t.csv", {.delimiter = ';'}).numbers("x"); }, "not a number",
                                  "t.csv:5:8, column 'x'", "'" + std::string(bad) + "'", "a float can hold");
    }
}
BOOST_AUTO_TEST_CASE(faults_say_where) {
    const auto refuses = [](const std::string& text, const char* fault, const char* where,
                            csv::options o = {.header = false}) {
        check_error<format_error>([&] { csv::parse(text, "f", o); }, fault, where);
    };
    refuses("a,b\nc\n", "a record has another number of fields", "f:2:1");
    refuses("a,b\n\"c\nd\",e,f\n", "a record has another number of fields", "f:2:1");
    refuses("a,b\nc,d\"e\n", "a quote within a field", "f:2:4");
    refuses("a,\"b\"c\n", "text after a closing quote", "f:1:6");
    refuses("a\n  \"b\"\n", "a quote within a field", "f:2:3");
    refuses("a,b\nc,\"d\n\n", "a quote is not closed", "f:2:3");
    refuses("a\rb\n", "a carriage return within a field", "f:1:2");
    refuses("", "no header", "f", {});
    refuses("a,b,a\n", "two columns of one name", "f", {});
    refuses("a,b\n1,2\n", "a record has another number of fields", "f:1:1", {.names = {"x", "y", "z"}});
    refuses(std::string(5000, ','), "too many columns", "f:1:4097");
    refuses("a\n\"" + std::string(100, 'x') + "\n" + std::string(100, 'x') + "\"\n", "a record is too long", "f:2:1",
            {.header = false, .longest_record = 150});
    for (const char d : {'"', '\n', '\r', '\0'})
        BOOST_CHECK_THROW(csv::parse("a", "f", {.delimiter = d}), option_error);
}
BOOST_AUTO_TEST_CASE(records_across_the_buffer) {   // which is 64 KiB
    std::string text = "n,s\n";
    const auto quotes = [](int n) { return std::string(static_cast<std::size_t>(n), '"'); };
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + ",\"" + quotes(i % 13 * 2) + "\"\r\n";
    const csv::table t = csv::parse(text, "t");
    BOOST_REQUIRE(t.rows() == 20'000);
    bool right = true;
    for (int i = 0; i < 20'000; ++i)
        right = right && t.at(i, 0).text == std::to_string(i) && t.at(i, 1).text == quotes(i % 13) &&
                t.at(i, 1).line == static_cast<std::uint64_t>(i + 2);
    BOOST_TEST(right);
}
BOOST_AUTO_TEST_CASE(what_is_escaped_is_read_back) {
    random_stream random(1);
    const std::string letters = "a,\"\r\n ;\xc3\xa9";
    std::string text;
    rows wanted;
    for (int r = 0; r < 300; ++r) {
        wanted.emplace_back();
        for (int c = 0; c < 3; ++c) {
            std::string f;
            for (std::uint32_t n = random.below(6); n > 0; --n)
                f += letters[random.below(static_cast<std::uint32_t>(letters.size()))];
            wanted.back().push_back(f);
            text += (c ? "," : "") + csv::escaped(f);
        }
        text += "\n";
    }
    BOOST_TEST((held(text) == wanted));
}
BOOST_AUTO_TEST_CASE(files_plain_or_gzip) {
    const temporary_folder folder;
    write_bytes(folder / "t.csv", "a,b\n1,2\n");
    gzFile z = gzopen((folder / "t.csv.gz").c_str(), "wb");
    gzputs(z, "a,b\n1,2\n");
    gzclose(z);
    for (const char* name : {"t.csv", "t.csv.gz"}) BOOST_TEST(same(held(csv::read(folder / name)), {{"1", "2"}}));
    BOOST_CHECK_THROW(csv::read(folder / "absent"), io_error);
}
BOOST_AUTO_TEST_CASE(as_python_writes_it) {
    const temporary_folder folder;
    const auto script = source_folder() / "test/tools/write_csv.py";
    const char* const python = std::getenv("SINTER_PYTHON");
    const command_result wrote =
        run_command("'" + std::string(python ? python : "python3") + "' '" + script.string() + "' '" +
                    (folder / "t.csv") + "' '" + (folder / "held") + "' 2000 7 2>&1");
    if (wrote.status == 127) return skip("no python3 (SINTER_PYTHON may name one)");
    BOOST_REQUIRE_MESSAGE(wrote.status == 0, wrote.output);
    rows wanted{{}};
    std::ifstream in(folder / "held");
    for (std::string line; std::getline(in, line);) {
        if (line.empty()) {
            wanted.emplace_back();
            continue;
        }
        std::string f;
        for (std::size_t i = 0; line != "-" && i < line.size(); i += 2)
            f += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
        wanted.back().push_back(f);
    }
    wanted.pop_back();
    BOOST_TEST(wanted.size() == 2000u);
    BOOST_TEST((held(csv::read(folder / "t.csv", {.header = false})) == wanted));
}
/// A number below all doubles is zero (probabilities, say); one above them is none.
BOOST_AUTO_TEST_CASE(numbers_near_zero) {
    for (const char* zero : {"1e-400", "-1e-400", "+3.5E-00999", "0.1e-9999999999999999999999", "9e-330"})
        BOOST_TEST(csv::parse(std::string("a\n") + zero + "\n", "t").numbers("a")[0] == 0, zero);
    BOOST_TEST(csv::parse("a\n0." + std::string(400, '0') + "1\n", "t").numbers("a")[0] == 0);
    BOOST_TEST(csv::parse("a\n1e-310\n", "t").numbers("a")[0] == 1e-310);
    for (const std::string& large : {std::string("1e400"), "1" + std::string(400, '0'), std::string("0.001e+500"),
                                     std::string("1e9223372036854775807"), std::string("1e99999999999999999999")})
        check_error<format_error>([&] { (void)csv::parse("a\n" + large + "\n", "t").numbers("a"); }, "not a number",
                                  "t:2:1");
}
