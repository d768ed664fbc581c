// SPDX-License-Identifier: BSL-1.0
// shows data: a stream of CSV records goes on at each of them, from the byte where it lies
#define BOOST_TEST_MODULE csv_stream
#include <boost/test/unit_test.hpp>
#include "fixtures/tf_data_files.hpp"
#include "io/data_folder.hpp"
#include "io/error_parts.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include "support/gzipped.hpp"
#include "support/stage_places.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/source/csv/stream.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>

using namespace sinter;
namespace csv = data::csv;

namespace {

struct two {
    std::optional<int> n;
    std::string text;
};
std::string shown(const two& t) { return (t.n ? std::to_string(*t.n) : "none") + ':' + t.text; }
using texts = std::vector<std::string>;

template <class S>
texts all_of(const S& stages) {
    return elements_from_everywhere(stages, shown);
}
template <class S>
void read_through(const S& stages) {
    for (const two& t : data::elements(stages)) static_cast<void>(t);
}
/// What a stream gives where errors are left out, and how many there were.
template <class S>
texts without_errors(const S& stages, int& errors) {
    texts all;
    typename S::state s{};
    typename S::cursor c{};
    for (errors = 0;;) try {
            typename S::ticket k{};
            if (!stages.next(s, c, k)) return all;
            all.push_back(shown(stages.get(s, k)));
        } catch (const error&) {
            BOOST_TEST_REQUIRE(++errors < 1000);
        }
}

} // namespace

BOOST_AUTO_TEST_CASE(records_of_several_files) {
    temporary_folder folder;
    const std::string a =
        write_bytes(folder / "a.csv", "n,unused,text\n1,x,one\n\n\r\n2,y,\"two, \"\"and\"\"\nmore\"\r\n");
    const std::string none = write_bytes(folder / "none.csv", "text,n,other\n");
    const std::string b = write_bytes(folder / "b.csv", "\xef\xbb\xbftext,n\n\"quoted\n\nlines\",?\nlast,4");
    const texts wanted{"1:one", "2:two, \"and\"\nmore", "none:quoted\n\nlines", "4:last"};
    BOOST_TEST((all_of(csv::stream<two>({a, none, b})) == wanted));
    BOOST_TEST((all_of(csv::stream<two>(std::vector<std::string>{a, none, b})) == wanted));
    BOOST_TEST((all_of(csv::stream<two>(none)).empty()));
    for (const std::string& path : {a, none, b}) write_bytes(path + ".gz", gzipped(read_bytes(path)));
    BOOST_TEST((all_of(csv::stream<two>({a + ".gz", none + ".gz", b})) == wanted));

    description d;
    csv::stream<two>({a, b}).describe(d);
    BOOST_TEST(holds(d.text(), "goes on\tat a byte of a file\n"));
    description packed;
    csv::stream<two>({a, b + ".gz"}).describe(packed);
    BOOST_TEST(holds(packed.text(), "goes on\tby reading compressed files from their beginning\n"));
}

BOOST_AUTO_TEST_CASE(files_without_header) {
    temporary_folder folder;
    const std::string a = write_bytes(folder / "a.csv", "1;one\n2;two\n");
    const auto rows = csv::stream<two>({a, a}, {.delimiter = ';', .header = false, .names = {"n", "text"}});
    BOOST_TEST((all_of(rows) == texts{"1:one", "2:two", "1:one", "2:two"}));
    struct real { double x; };
    const std::string b = write_bytes(folder / "b.csv", "x\n1,5\n");
    const auto reals = csv::stream<real>(b, {.delimiter = ';'}, {.decimal = ','});
    BOOST_TEST((elements_from_everywhere(reals, [](const real& r) { return r.x; }) == std::vector{1.5}));
}

BOOST_AUTO_TEST_CASE(as_tensorflow_reads_them) {
    struct three { int a; float b; std::string c; };
    temporary_folder folder;
    const std::string path = write_bytes(folder / "a.csv", "a,b,c\n1,2.5,x\r\n-7,1e3,\"quoted, \"\"text\"\"\"\n"
                                                           "3,4,\"two\nlines\"\n 5 , 6 ,\n");
    std::size_t i = 0;
    for (const three& r : data::elements(csv::stream<three>(path))) {
        BOOST_TEST_REQUIRE(i < std::size(tf_data_files::csv_rows));
        BOOST_TEST(r.a == tf_data_files::csv_rows[i].a);
        BOOST_TEST(r.b == tf_data_files::csv_rows[i].b);
        BOOST_TEST(r.c == tf_data_files::csv_rows[i].c);
        ++i;
    }
    BOOST_TEST(i == std::size(tf_data_files::csv_rows));
}

BOOST_AUTO_TEST_CASE(any_text_at_any_place) {
    temporary_folder folder;
    const std::string letters = "ab,\"\n\r";
    for (std::uint64_t round = 0; round < 40; ++round) {
        random_stream random(round);
        std::string text = "text,n\n";
        texts wanted;
        for (std::uint32_t r = 0, n = random.below(12); r < n; ++r) {
            std::string f = "x";
            for (std::uint32_t i = random.below(6); i > 0; --i) f += letters[random.below(6)];
            wanted.push_back(std::to_string(r) + ':' + f);
            text += csv::escaped(f) + ',' + std::to_string(r) + (random.below(2) ? "\n" : "\r\n");
            if (random.below(4) == 0) text += "\n";
        }
        if (random.below(2) && !wanted.empty())
            while (text.back() == '\n' || text.back() == '\r') text.pop_back();
        const std::string path = write_bytes(folder / "a.csv", round % 4 ? text : gzipped(text));
        BOOST_TEST((all_of(csv::stream<two>(path)) == wanted));
    }
}

BOOST_AUTO_TEST_CASE(files_are_looked_at_first) {
    temporary_folder folder;
    const std::string a = write_bytes(folder / "a.csv", "n,text\n"), b = write_bytes(folder / "b.csv", "text,m\n1,2\n");
    check_error<data_error>([&] { csv::stream<two>({a, b}); }, "no such column", "b.csv", "'n'", "text, m");
    check_error<io_error>([&] { csv::stream<two>({a, folder / "no.csv"}); }, "cannot open for reading", "no.csv");
    check_error<io_error>([&] { csv::stream<two>(folder.path()); }, "", "", "a folder", "a regular file");
    check_error<option_error>([&] { csv::stream<two>(std::vector<std::string>{}); }, "no files", "csv::stream");
    check_error<format_error>([&] { csv::stream<two>(write_bytes(folder / "e.csv", "")); }, "no header", "e.csv");
    const std::string cut = write_bytes(folder / "g.gz", gzipped("n,text\n").substr(0, 12));
    check_error<format_error>([&] { csv::stream<two>(cut); }, "gzip stream is", "g.gz");
    BOOST_TEST((all_of(csv::stream<two>(write_bytes(folder / "c.csv", "text\na\n"), {}, {.may_be_absent = {"n"}})) ==
                texts{"none:a"}));
}

BOOST_AUTO_TEST_CASE(damaged_records) {
    temporary_folder folder;
    const std::string good = write_bytes(folder / "good.csv", "n,text\n8,eight\n");
    const auto damaged = [&](const std::string& records) {
        return csv::stream<two>({write_bytes(folder / "a.csv", "n,text\n1,a\n" + records), good});
    };
    const auto refuses = [&](const std::string& records, const char* fault, const char* where, texts rest) {
        const auto rows = damaged(records);
        check_error<format_error>([&] { read_through(rows); }, fault, where);
        int errors = 0;
        BOOST_TEST((without_errors(rows, errors) == rest));
        BOOST_TEST(errors == 1);
    };
    // Those whose end is known do not keep others from being read,
    refuses("x,b\n3,c\n", "not a whole number", "a.csv:3:1, column 'n'", {"1:a", "3:c", "8:eight"});
    refuses("\"1\n\",b\n3,c\n", "not a whole number", "a.csv:3:1, column 'n'", {"1:a", "3:c", "8:eight"});
    refuses("2\n3,c\n", "another number of fields", "a.csv:3:1", {"1:a", "3:c", "8:eight"});
    refuses("2,b,c\n3,c\n", "another number of fields", "a.csv:3:1", {"1:a", "3:c", "8:eight"});
    // and after others the next file is read.
    refuses("2,b\"\n3,c\n", "a quote within a field", "a.csv:3:4", {"1:a", "8:eight"});
    refuses("2,\"b\n3,c\n", "a quote is not closed", "a.csv:3:3", {"1:a", "8:eight"});
    refuses("2,b\rc\n3,c\n", "a carriage return", "a.csv:3:4", {"1:a", "8:eight"});
    refuses("2," + std::string(1 << 21, 'x') + "\n3,c\n", "a record is too long", "a.csv:3:1", {"1:a", "8:eight"});
}

BOOST_AUTO_TEST_CASE(lines_and_columns_after_going_on) {
    temporary_folder folder;
    const auto rows = csv::stream<two>(write_bytes(folder / "a.csv", "n,text\n1,\"a\n\"\n2,b\n\n3,c\n4,\"\nd\nx,e\n"));
    using stage = std::remove_const_t<decltype(rows)>;
    stage::cursor c;
    stage::ticket k;
    for (int i = 0; i < 3; ++i) {
        stage::state fresh{};
        BOOST_TEST_REQUIRE(rows.next(fresh, c, k));
    }
    BOOST_TEST(c.record == 3);
    BOOST_TEST(c.line == 7);
    stage::state fresh{};
    check_error<format_error>([&] { rows.next(fresh, c, k); }, "a quote is not closed", "a.csv:7:3");
}

BOOST_AUTO_TEST_CASE(records_of_other_lengths_than_the_header) {
    temporary_folder folder;
    const auto rows = csv::stream<two>(write_bytes(folder / "a.csv", "n,text\n1,a,more\n2\n3,c\n"), {.ragged = true});
    int errors = 0;
    BOOST_TEST((without_errors(rows, errors) == texts{"1:a", "3:c"}));
    BOOST_TEST(errors == 1);
}

BOOST_AUTO_TEST_CASE(files_that_change) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "a.csv", "n,text\n1,a\n2,b\n3,c\n");
    for (const bool packed : {false, true}) {
        write_bytes(path, packed ? gzipped("n,text\n1,a\n2,b\n3,c\n") : "n,text\n1,a\n2,b\n3,c\n");
        const auto rows = csv::stream<two>(path);
        using stage = std::remove_const_t<decltype(rows)>;
        stage::state s{};
        stage::cursor c;
        stage::ticket k;
        for (int i = 0; i < 3; ++i) rows.next(s, c, k);
        write_bytes(path, packed ? gzipped("n,text\n") : "n,text\n");
        stage::state fresh{};
        check_error<option_error>([&] { rows.next(fresh, c, k); }, "file ends before the byte to begin with", "a.csv",
                                  "byte 19", "0 to 7");
        std::filesystem::remove(path);
        stage::state later{};
        stage::cursor first;
        check_error<io_error>([&] { rows.next(later, first, k); }, "cannot open for reading", "a.csv");
        BOOST_TEST(!rows.next(later, first, k));   // it was the last one
    }
    write_bytes(path, "n,text\n1,a\n");
    const auto rows = csv::stream<two>(path);
    std::remove_const_t<decltype(rows)>::state s{};
    std::remove_const_t<decltype(rows)>::ticket k;
    data::file_cursor c{.file = -1};
    check_error<option_error>([&] { rows.next(s, c, k); }, "no place in a stream of files", "", "file -1");
    c = {.file = 7};
    BOOST_TEST(!rows.next(s, c, k));
}

BOOST_AUTO_TEST_CASE(a_bound_on_what_is_unpacked) {
    temporary_folder folder;
    std::string text = "n,text\n";
    for (int i = 0; i < 200'000; ++i) text += "1,a\n";
    const std::string path = write_bytes(folder / "bomb.gz", gzipped(text));
    BOOST_TEST(std::filesystem::file_size(path) < 5000u);
    const auto rows = csv::stream<two>(path, {}, {}, {.most_unpacked_bytes = 100'000});
    int errors = 0;
    BOOST_TEST(without_errors(rows, errors).size() < 25'000u);
    BOOST_TEST(errors == 1);
    check_error<format_error>([&] { read_through(rows); }, "file unpacks to more than allowed", "bomb.gz", "",
                              "most_unpacked_bytes");
}

BOOST_AUTO_TEST_CASE(adult) {
    struct person { float age; int hours_per_week; std::string workclass, income; };
    struct sample { std::array<float, 3> x; std::int32_t rich; };
    const std::string path = data_file("adult/adult_train.csv");
    if (path.empty()) return skip("no adult/adult_train.csv below SINTER_DATA");
    const auto train = csv::stream<person>(path) | data::map([](const person& p) {
                           const float is_private = p.workclass == "Private";
                           return sample{{p.age, static_cast<float>(p.hours_per_week), is_private},
                                         p.income == ">50K"};
                       });
    std::int64_t n = 0, rich = 0;
    double ages = 0;
    for (const sample& s : data::elements(train)) ++n, rich += s.rich, ages += s.x[0];
    BOOST_TEST(n == 22792);   // as MANIFEST.md says
    BOOST_TEST(rich == 5484);   // counted by awk
    BOOST_TEST(ages == 880119);
    using stage = std::remove_const_t<decltype(train)>;
    stage::state s{};
    stage::cursor c{}, middle{};
    std::vector<float> rest;
    stage::ticket k{};
    for (std::int64_t i = 0; train.next(s, c, k); ++i) {
        if (i >= 20000) rest.push_back(train.get(s, k).x[0]);
        else if (i == 19999) middle = c;
    }
    stage::state fresh{};
    BOOST_TEST((rest_of_pass(train, fresh, middle, [](const sample& e) { return e.x[0]; }) == rest));
}
