// SPDX-License-Identifier: BSL-1.0
// shows data: records of CSV files become structs, columns by fields' names
#define BOOST_TEST_MODULE data_csv_structs
#include <boost/test/unit_test.hpp>
#include "io/data_folder.hpp"
#include "io/error_parts.hpp"
#include "io/skip.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/source/csv/structs.hpp>
#include <sinter/io/file.hpp>
#include <cmath>

using namespace sinter;
namespace csv = data::csv;

namespace {

struct passenger {
    float age;
    std::optional<int> hours_per_week;
    std::string workclass;
    bool rich;
};

template <class T>
std::vector<T> read(const std::string& text, csv::options o = {}, csv::struct_options s = {}) {
    io::memory_source source(as_bytes(text), "t.csv");
    csv::reader in(source, std::move(o));
    csv::struct_reader<T> rows(in, std::move(s));
    std::vector<T> all;
    for (T x; rows.next(x);) all.push_back(x);
    return all;
}

/// RFC 4180 by a state for each byte, as unlike the reader's search for marks as it can be. Without its errors.
std::vector<std::vector<std::string>> by_states(const std::string& text) {
    enum { begin_record, begin_field, plain, quoted, quote_in_quoted } state = begin_record;
    std::vector<std::vector<std::string>> all;
    for (const char c : text) {
        if (state == begin_record) {
            if (c == '\n' || c == '\r') continue;
            all.emplace_back();
            state = begin_field;
        }
        if (state == begin_field) {
            all.back().emplace_back();
            state = c == '"' ? quoted : plain;
            if (c == '"') continue;
        }
        if (state == quote_in_quoted) {
            state = c == '"' ? quoted : plain;
            if (c == '"') {
                all.back().back() += c;
                continue;
            }
        }
        if (state == quoted) {
            if (c == '"') state = quote_in_quoted;
            else all.back().back() += c;
        } else if (c == ',') {
            state = begin_field;
        } else if (c == '\n') {
            state = begin_record;
        } else if (c != '\r') {
            all.back().back() += c;
        }
    }
    if (state == begin_field) all.back().emplace_back();
    return all;
}

/// A source that gives few bytes at a time, so that records lie across what the reader has.
class slow_source final : public io::byte_source {
public:
    slow_source(std::string text, std::uint64_t seed) : text_(std::move(text)), random_(seed) {}
    std::size_t read_some(span<std::byte> to) override {
        const std::size_t n = std::min<std::size_t>({to.size(), text_.size() - at_, 1 + random_.below(70)});
        std::memcpy(to.data(), text_.data() + at_, n);
        at_ += n;
        return n;
    }
    std::uint64_t at_most_left() const override { return text_.size() - at_; }
    const std::string& name() const override { return name_; }

private:
    std::string text_, name_ = "slow";
    std::size_t at_ = 0;
    random_stream random_;
};

} // namespace

BOOST_AUTO_TEST_CASE(columns_by_names) {
    const auto all = read<passenger>("rich,unused,workclass,hours_per_week,age\n"
                                     "yes,x,Private, 40 ,31.5\n0,y,\"State, gov\",?,+2\n");
    BOOST_REQUIRE(all.size() == 2u);
    BOOST_TEST(all[0].age == 31.5f);
    BOOST_TEST((all[0].hours_per_week == 40));
    BOOST_TEST(all[0].workclass == "Private");
    BOOST_TEST(all[0].rich);
    BOOST_TEST(all[1].age == 2.f);
    BOOST_TEST(!all[1].hours_per_week);
    BOOST_TEST(all[1].workclass == "State, gov");
    BOOST_TEST(!all[1].rich);
}

BOOST_AUTO_TEST_CASE(types_have_ranges) {
    struct numbers {
        std::int8_t a;
        std::uint16_t b;
        std::int64_t c;
        std::uint64_t d;
        double e;
    };
    const std::string header = "a,b,c,d,e\n";
    const auto all = read<numbers>(header + "-128,65535,-9223372036854775808,18446744073709551615,1e308\n");
    BOOST_TEST(all[0].a == -128);
    BOOST_TEST(all[0].b == 65535);
    BOOST_TEST(all[0].c == INT64_MIN);
    BOOST_TEST(all[0].d == UINT64_MAX);
    BOOST_TEST(all[0].e == 1e308);
    const auto refuses = [&](const std::string& record, const char* fault, const char* where, const char* got,
                             const char* needed) {
        check_error<format_error>([&] { read<numbers>(header + record + "\n"); }, fault, where, got, needed);
    };
    refuses("128,0,0,0,0", "not a whole number of this range", "t.csv:2:1, column 'a'", "'128'", "-128 to 127");
    refuses("0,-1,0,0,0", "not a whole number of this range", "t.csv:2:3, column 'b'", "'-1'", "0 to 65535");
    refuses("0,0,1.5,0,0", "not a whole number of this range", "t.csv:2:5, column 'c'", "'1.5'", "");
    refuses("0,0,,0,0", "a value is missing", "t.csv:2:5, column 'c'", "", "std::optional");
    refuses("0,0,0,18446744073709551616,0", "not a whole number", "t.csv:2:7, column 'd'", "", "0 to 1844");
    for (const char* bad : {"1e309", "inf", "nan(1)", "1,5", "0x1p3", "+-1", "-", "1 2"})
        check_error<format_error>([&] { read<numbers>(header + "0,0,0,0,\"" + bad + "\"\n"); }, "not a number",
                                  "t.csv:2:9, column 'e'");
}

BOOST_AUTO_TEST_CASE(floats_are_the_nearest) {
    struct one { float x; };
    const auto x = [](const std::string& text) { return read<one>("x\n" + text + "\n")[0].x; };
    BOOST_TEST(x("0.1") == 0.1f);
    BOOST_TEST(x("16777217") == 16777216.f);
    BOOST_TEST(x("1e-60") == 0.f);
    BOOST_TEST(x("0." + std::string(400, '0') + "1") == 0.f);
    BOOST_TEST(x("1e-45") == 1e-45f);
    for (const std::string& large : {std::string("1e39"), std::string("3.5e38"), std::string("1e400"),
                                     "1" + std::string(400, '0') + "e-5"})
        check_error<format_error>([&] { x(large); }, "not a number", "t.csv:2:1");
    random_stream random(3);
    for (int i = 0; i < 1000; ++i) {
        char text[40];
        std::snprintf(text, sizeof text, "%.9g", std::ldexp(static_cast<double>(random.uniform()), i % 100 - 50));
        BOOST_TEST(x(text) == std::strtof(text, nullptr));
    }
}

BOOST_AUTO_TEST_CASE(decimal_comma) {
    struct one { double x; };
    const csv::options semicolons{.delimiter = ';'};
    BOOST_TEST(read<one>("x;y\n-1,25e2;1\n", semicolons, {.decimal = ','})[0].x == -125.);
    check_error<format_error>([&] { read<one>("x;y\n1.5;1\n", semicolons, {.decimal = ','}); }, "not a number",
                              "t.csv:2:1, column 'x'", "'1.5'", "a decimal comma");
    check_error<option_error>([&] { read<one>("x\n1\n", {}, {.decimal = 'x'}); }, "impossible decimal sign", "t.csv");
}

BOOST_AUTO_TEST_CASE(absent_columns) {
    check_error<data_error>([] { read<passenger>("age,rich,workclass\n"); }, "no such column", "t.csv",
                            "'hours_per_week'", "age, rich, workclass");
    const auto all = read<passenger>("age,rich,workclass\n1,1,a\n", {}, {.may_be_absent = {"hours_per_week"}});
    BOOST_TEST(!all[0].hours_per_week);
    check_error<option_error>(
        [] { read<passenger>("age,rich,workclass,hours_per_week\n", {}, {.may_be_absent = {"age"}}); },
        "no std::optional field has this name", "t.csv, may_be_absent", "'age'");
    check_error<option_error>([] { read<passenger>("1,2\n", {.header = false}); }, "columns are found by their names",
                              "t.csv");
}

BOOST_AUTO_TEST_CASE(any_text_in_any_pieces) {
    random_stream random(9);
    const std::string letters = "ab,\"\n\r";
    for (int round = 0; round < 300; ++round) {
        std::string text;
        for (int r = 0; r < 40; ++r)
            for (int c = 0; c < 3; ++c) {
                std::string f;
                for (std::uint32_t n = random.below(round % 7 == 0 ? 200 : 5); n > 0; --n)
                    f += letters[random.below(static_cast<std::uint32_t>(letters.size()))];
                if (c == 0) f += 'x';   // or a record of empty texts could be an empty line
                text += csv::escaped(f) + (c < 2 ? "," : r % 3 ? "\n" : "\r\n");
            }
        const auto wanted = by_states(text);
        slow_source source(text, static_cast<std::uint64_t>(round));
        csv::reader in(source, {.header = false});
        std::size_t r = 0;
        for (; in.next(); ++r) {
            BOOST_REQUIRE(r < wanted.size());
            BOOST_REQUIRE(in.fields().size() == wanted[r].size());
            for (std::size_t c = 0; c < wanted[r].size(); ++c) BOOST_REQUIRE(in.fields()[c].text == wanted[r][c]);
            const std::size_t first = in.offset();   // a record read from there is the same
            BOOST_REQUIRE((by_states(text.substr(first)).front() == wanted[r]));
        }
        BOOST_REQUIRE(r == wanted.size());
    }
}

BOOST_AUTO_TEST_CASE(adult) {
    struct person {
        int age;
        std::string workclass;
        int fnlwgt, education_num;
        std::string_view income;
    };
    const std::string path = data_file("adult/adult_train.csv");
    if (path.empty()) return skip("no adult/adult_train.csv below SINTER_DATA");
    io::input_file file(path);
    csv::reader in(file);
    csv::struct_reader<person> rows(in);
    std::int64_t n = 0, rich = 0, ages = 0;
    for (person p; rows.next(p); ++n) rich += p.income == ">50K", ages += p.age;
    BOOST_TEST(n == 22792);   // as MANIFEST.md says
    BOOST_TEST(rich == 5484);   // counted by awk
    BOOST_TEST(ages == 880119);
}
