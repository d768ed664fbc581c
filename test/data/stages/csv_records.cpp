// SPDX-License-Identifier: BSL-1.0
// shows data: CSV files as records whose columns and types are known at run time
#define BOOST_TEST_MODULE csv_records
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include "io/data_folder.hpp"
#include "io/error_parts.hpp"
#include "io/skip.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/data/source/csv/records.hpp>
#include <sinter/data/source/csv/rows.hpp>

using namespace sinter;
namespace csv = data::csv;
using data::record_type;

namespace {
const std::string people = "name,age,height,note,empty,code\n"
                           "Ann,31,1.75,x,,007\n"
                           "\"B, ob\",?,180,,,12\n"
                           "Cy,9223372036854775807,-1e3,?,,1a\n";
data::record row(const csv::record_stage& all, std::int64_t i) {
    csv::record_stage::state s;
    return all.get(s, i);
}
} // namespace

BOOST_AUTO_TEST_CASE(types_that_are_found) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "people.csv", people);
    const auto all = csv::records(path);
    const std::vector<data::record_field> found{{.name = "name", .type = record_type::text},
                                                {.name = "age", .type = record_type::i64, .optional = true},
                                                {.name = "height"},
                                                {.name = "note", .type = record_type::text, .optional = true},
                                                {.name = "empty", .optional = true},
                                                {.name = "code", .type = record_type::text}};
    BOOST_TEST((all.schema() == data::record_schema(found)));
    BOOST_TEST(all.size() == 3);
    const auto height = all.schema().field<float>("height");
    BOOST_TEST(row(all, 0).get(height) == 1.75f);
    BOOST_TEST(row(all, 2).get(height) == -1000.f);
    BOOST_TEST(row(all, 1).get<std::string>("name") == "B, ob");
    BOOST_TEST(row(all, 0).get<int>("age") == 31);
    BOOST_TEST(!row(all, 1).get<std::optional<int>>("age"));
    BOOST_TEST(row(all, 2).get<std::int64_t>("age") == INT64_MAX);
    BOOST_TEST(!row(all, 1).get<std::optional<std::string>>("note"));
    BOOST_TEST(row(all, 1).get<std::string>("note") == "");
    BOOST_TEST(row(all, 2).get<std::string>("note") == "?");
    BOOST_TEST(row(all, 0).get<std::string_view>("code") == "007");
    BOOST_TEST(row(all, 0).is_missing("empty"));
    check_error<data_error>([&] { row(all, 1).get<int>("age"); }, "field has no value", "field 'age'");
    check_error<data_error>([&] { all.schema().field<int>("height"); }, "another type", "field 'height'", "floats",
                            "integers");
    std::vector<data::record> wanted;
    for (std::int64_t i = 0; i < 3; ++i) wanted.push_back(row(all, i));
    reading::check(all, 0, wanted, 3);
}

BOOST_AUTO_TEST_CASE(columns_and_types_that_are_given) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "people.csv", people),
                      other = write_bytes(folder / "other.csv", "code,name\n5,Di\n");
    const auto all = csv::records({path, other}, {}, {.columns = {"code", "name"}});
    BOOST_TEST(all.schema().size() == 2u);
    BOOST_TEST(all.size() == 4);
    BOOST_TEST(row(all, 3).get<std::string>("code") == "5");
    BOOST_TEST(row(all, 3).get<std::string>("name") == "Di");
    const auto typed = csv::records(path, {}, {.columns = {"age", "height"},
                                               .types = {{.name = "age", .type = record_type::f32, .optional = true}}});
    BOOST_TEST(row(typed, 0).get<float>("age") == 31.f);
    BOOST_TEST(row(typed, 1).is_missing("age"));
    const auto strict = csv::records(path, {}, {.types = {{.name = "age", .type = record_type::i64}}});
    check_error<format_error>([&] { row(strict, 1); }, "a value is missing", "people.csv:3:9, column 'age'");
    const std::string commas = write_bytes(folder / "comma.csv", "x;y\n1,5;2\n");
    const auto comma = csv::records(commas, {.delimiter = ';'}, {.decimal = ','});
    BOOST_TEST(row(comma, 0).get<float>("x") == 1.5f);
    BOOST_TEST(row(comma, 0).get<int>("y") == 2);
    const auto first = csv::records(path, {}, {.columns = {"code", "age"}, .look_at = 2});
    BOOST_TEST((first.schema()[0] == data::record_field{.name = "code", .type = record_type::i64, .optional = true}));
    BOOST_TEST(row(first, 0).get<int>("code") == 7);
    check_error<format_error>([&] { row(first, 2); }, "not a whole number", "people.csv:4:32, column 'code'", "'1a'");
    const auto none = csv::records(path, {}, {.columns = {"age"}, .look_at = 0});
    BOOST_TEST((none.schema()[0] == data::record_field{.name = "age", .optional = true}));
    BOOST_TEST(row(none, 0).get<float>("age") == 31.f);
}

BOOST_AUTO_TEST_CASE(what_cannot_be) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "people.csv", people),
                      other = write_bytes(folder / "other.csv", "code,name\n5,Di\n");
    check_error<data_error>([&] { csv::records({path, other}); }, "no such column", "other.csv", "'age'");
    check_error<data_error>([&] { csv::records(path, {}, {.columns = {"agee"}}); }, "no such column", "people.csv",
                            "'agee'", "name, age");
    check_error<option_error>([&] { csv::records(path, {}, {.columns = {"age", "age"}}); }, "two fields of one name",
                              "", "'age'");
    check_error<option_error>([&] { csv::records(path, {}, {.types = {{.name = "agee"}}}); },
                              "a type for a column that is not read", "types", "'agee'");
    check_error<option_error>([&] { csv::records(path, {}, {.types = {{.name = "age", .extents = {2}}}}); },
                              "a column has one value", "types", "'age'");
    check_error<option_error>([&] { csv::records(path, {}, {.decimal = ';'}); }, "decimal sign", "csv::records", "';'");
    check_error<option_error>([&] { csv::records(path, {}, {.look_at = -1}); }, "number of records", "look_at", "-1");
    check_error<io_error>([&] { csv::records(folder / "no"); }, "cannot open", "/no");
    check_error<option_error>([&] { csv::records(std::vector<std::string>{}); }, "no files", "");
    description d, less;
    csv::records(path).describe(d);
    csv::records(path, {}, {.columns = {"age"}}).describe(less);
    BOOST_TEST(d.text() != less.text());
}

BOOST_AUTO_TEST_CASE(adult) {   // against csv::rows
    struct person { int age; std::optional<std::string> workclass; std::string income; float fnlwgt; };
    const std::string path = data_file("adult/adult_train.csv");
    if (path.empty()) return skip("no adult/adult_train.csv below SINTER_DATA");
    const auto all = csv::records(path);
    const auto typed = csv::rows<person>(path);
    BOOST_TEST(all.size() == 22'792);   // MANIFEST.md
    BOOST_TEST(all.schema().size() == 15u);
    const auto age = all.schema().field<int>("age");
    const auto work = all.schema().field<std::optional<std::string>>("workclass");
    const auto income = all.schema().field<std::string_view>("income");
    csv::record_stage::state s;
    csv::row_stage<person>::state t;
    for (std::int64_t i = 0; i < all.size(); i += 37) {
        const data::record r = all.get(s, i);
        const person p = typed.get(t, i);
        BOOST_TEST(r.get(age) == p.age);
        BOOST_TEST((r.get(work) == p.workclass));
        BOOST_TEST(r.get(income) == p.income);
        BOOST_TEST(static_cast<float>(r.get<std::int64_t>("fnlwgt")) == p.fnlwgt);
    }
}
