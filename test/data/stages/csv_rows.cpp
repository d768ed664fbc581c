// SPDX-License-Identifier: BSL-1.0
// shows data: each record of CSV files is found by its number, in any order, as a stream gives it
#define BOOST_TEST_MODULE csv_rows
#include <boost/test/unit_test.hpp>
#include "io/data_folder.hpp"
#include "io/error_parts.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include "support/gzipped.hpp"
#include <sinter/data/source/csv/rows.hpp>
#include <sinter/data/source/csv/stream.hpp>
#include <sinter/data/stages/elements.hpp>

using namespace sinter;
namespace csv = data::csv;

namespace {

struct passage {
    int number;
    std::string text;
    std::optional<float> fare;
    bool operator==(const passage&) const = default;
};
/// n records in all forms that a file may have: quotes, quoted line ends, missing values, empty lines, both line ends.
std::string file_of(int n) {
    std::string all = "\xef\xbb\xbf" "fare,number,unused,text\r\n";
    for (int i = 0; i < n; ++i) {
        all += i % 3 == 0 ? "?," : std::to_string(i) + ".5,";
        all += std::to_string(i) + ",x,";
        all += i % 7 == 0 ? "\"two\nlines, \"\"" + std::to_string(i) + "\"\"\"" : i % 11 == 0 ? "" : "text";
        all += i % 2 == 0 ? "\n" : "\r\n";
        if (i % 13 == 0) all += "\n";
    }
    return all;
}
template <class S>
std::vector<passage> all_of(const S& stages) {
    std::vector<passage> all;
    for (const passage& p : data::elements(stages)) all.push_back(p);
    return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(any_order_gives_what_a_stream_gives) {
    temporary_folder folder;
    const std::string a = write_bytes(folder / "a.csv", file_of(2000)),
                      none = write_bytes(folder / "none.csv", file_of(0)),
                      b = write_bytes(folder / "b.csv", "number,text,fare\n7,no line end,1");
    const auto rows = csv::rows<passage>({a, none, b});
    const std::vector<passage> wanted = all_of(csv::stream<passage>({a, none, b}));
    BOOST_TEST(rows.size() == 2001);
    BOOST_TEST((all_of(rows) == wanted));
    decltype(rows)::state s;
    for (std::int64_t k = 0; k < 4000; ++k) {   // far apart, with runs of neighbours between them
        const std::int64_t i = (k / 5 * 1237 + k % 5) % 2001;
        BOOST_TEST_REQUIRE((rows.get(s, i) == wanted[static_cast<std::size_t>(i)]));
    }
}

BOOST_AUTO_TEST_CASE(every_place_and_state) {
    temporary_folder folder;
    const std::string a = write_bytes(folder / "a.csv", file_of(9)), b = write_bytes(folder / "b.csv", file_of(4));
    const auto rows = csv::rows<passage>({a, b});
    const std::vector<passage> wanted = all_of(csv::stream<passage>({a, b}));
    BOOST_TEST_REQUIRE(wanted.size() == 13u);
    decltype(rows)::state s;
    for (std::size_t i = wanted.size(); i-- > 0;)
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            BOOST_TEST((rows.get(s, static_cast<std::int64_t>(i)) == wanted[i]));
            BOOST_TEST((rows.get(s, static_cast<std::int64_t>(k)) == wanted[k]));
        }
}

BOOST_AUTO_TEST_CASE(errors_say_where_they_are) {
    temporary_folder folder;
    const std::string a =
        write_bytes(folder / "a.csv", "number,text,fare\n1,\"a\nb\",2\n\n3,c,4\nfive,d,6\n7,e,8\n");
    const auto rows = csv::rows<passage>(a);
    decltype(rows)::state s;
    check_error<format_error>([&] { rows.get(s, 2); }, "", "a.csv:6:1", "five");
    BOOST_TEST(rows.get(s, 3).number == 7);   // the next one is there
    BOOST_TEST(rows.get(s, 1).number == 3);
    check_error<data_error>([&] { csv::rows<passage>(write_bytes(folder / "b.csv", "number,fare\n1,2\n")); },
                            "no such column", "b.csv", "text");
    check_error<format_error>([&] { csv::rows<passage>(write_bytes(folder / "c.csv", "number,text,fare\n1,2\n")); }, "",
                              "c.csv:2");
    check_error<option_error>([&] { csv::rows<passage>(write_bytes(folder / "d.csv", gzipped("number,text,fare\n"))); },
                              "compressed", "d.csv", "gzip", "csv::stream");
    check_error<io_error>([&] { csv::rows<passage>(folder / "no.csv"); }, "cannot open", "no.csv");
}

BOOST_AUTO_TEST_CASE(files_that_change_are_errors) {
    temporary_folder folder;
    const std::string a = write_bytes(folder / "a.csv", "number,text,fare\n1,a,2\n3,bb,4\n5,c,6\n");
    const auto rows = csv::rows<passage>(a);
    write_bytes(a, "number,text,fare\n1,aaaaaa");
    decltype(rows)::state s;
    check_error<format_error>([&] { rows.get(s, 0); }, "", "a.csv");
    check_error<io_error>([&] { rows.get(s, 2); }, "became shorter", "a.csv");
}

BOOST_AUTO_TEST_CASE(adult_as_a_stream_gives_it) {
    struct person {
        int age;
        std::string workclass;
        std::optional<std::string> occupation;
    };
    const std::string path = data_file("adult/adult_train.csv");
    if (path.empty()) return skip("no adult/adult_train.csv below SINTER_DATA");
    const auto rows = csv::rows<person>(path);
    decltype(rows)::state s;
    std::int64_t i = 0;
    for (const person& p : data::elements(csv::stream<person>(path))) {
        const person q = rows.get(s, i++);
        BOOST_TEST_REQUIRE((p.age == q.age && p.workclass == q.workclass && p.occupation == q.occupation));
    }
    BOOST_TEST(rows.size() == i);
}
