// SPDX-License-Identifier: BSL-1.0
// shows data: records whose fields are known at run time, by name and by handle, with errors that name the field
#define BOOST_TEST_MODULE record
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/data/record.hpp>

using namespace sinter;
using data::record_type;

namespace {
const data::record_schema& schema() {
    static const data::record_schema s{{.name = "age"},
                                       {.name = "matrix", .extents = {2, 3}},
                                       {.name = "ids", .type = record_type::i64, .variable = true},
                                       {.name = "hours", .type = record_type::i64, .optional = true},
                                       {.name = "work", .type = record_type::text},
                                       {.name = "pairs", .type = record_type::text, .extents = {2}, .variable = true}};
    return s;
}
data::record whole() {
    data::record r(schema());
    r.set("age", 31.5).set("matrix", std::vector{1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).set("ids", std::vector{7, -8});
    return r.set("hours", 40).set("work", "Private").set("pairs", std::vector<std::string>{"a", "b", "", "d"});
}
} // namespace

BOOST_AUTO_TEST_CASE(values) {
    const data::record r = whole();
    BOOST_TEST(r.get<float>("age") == 31.5f);
    BOOST_TEST(r.get<double>("age") == 31.5);
    BOOST_TEST((r.get<std::array<float, 6>>("matrix") == std::array{1.f, 2.f, 3.f, 4.f, 5.f, 6.f}));
    using matrix = std::array<std::array<double, 3>, 2>;
    BOOST_TEST((r.get<matrix>("matrix") == matrix{{{1, 2, 3}, {4, 5, 6}}}));
    BOOST_TEST((r.get<std::vector<float>>("matrix").size() == 6u));
    BOOST_TEST(r.get<span<const float>>("matrix")[4] == 5.f);
    BOOST_TEST((r.get<std::vector<std::int64_t>>("ids") == std::vector<std::int64_t>{7, -8}));
    BOOST_TEST((r.get<std::vector<int>>("ids") == std::vector{7, -8}));
    BOOST_TEST((r.get<std::array<std::int8_t, 2>>("ids") == std::array<std::int8_t, 2>{7, -8}));
    BOOST_TEST(r.get<span<const std::int64_t>>("ids").size() == 2u);
    BOOST_TEST(r.get<int>("hours") == 40);
    BOOST_TEST(r.get<std::uint64_t>("hours") == 40u);
    BOOST_TEST(r.get<std::optional<short>>("hours").value() == 40);
    BOOST_TEST(r.get<std::string>("work") == "Private");
    BOOST_TEST(r.get<std::string_view>("work") == "Private");
    BOOST_TEST((r.get<std::vector<std::string>>("pairs") == std::vector<std::string>{"a", "b", "", "d"}));
    BOOST_TEST((r.get<std::array<std::string_view, 4>>("pairs")[3] == "d"));
    BOOST_TEST((r == whole()));
    BOOST_TEST((r != whole().set("age", 1)));
    data::record moved = whole();
    const data::record other = std::move(moved);
    BOOST_TEST((other == r));
    BOOST_TEST(whole().set("hours", 1).set("hours", 2).get<int>("hours") == 2);
}

BOOST_AUTO_TEST_CASE(handles) {
    const auto age = schema().field<float>("age");
    const auto hours = schema().field<std::optional<int>>("hours");
    const data::record r = whole();
    BOOST_TEST(r.get(age) == 31.5f);
    BOOST_TEST(r.get(hours).value() == 40);
    BOOST_TEST(age.name() == "age");
    const data::record_schema turned{{.name = "hours", .type = record_type::i64}, {.name = "age"}};   // found by names
    data::record t(turned);
    t.set("age", 2).set("hours", 3);
    BOOST_TEST(t.get(age) == 2.f);
    BOOST_TEST(t.get(hours).value() == 3);
    const data::record_schema without{{.name = "hours", .type = record_type::i64}};
    check_error<data_error>([&] { data::record(without).get(age); }, "no such field", "record", "'hours'", "'age'");
}

BOOST_AUTO_TEST_CASE(what_is_missing) {
    const data::record r(schema());
    BOOST_TEST(r.is_missing("age"));
    BOOST_TEST(!r.get<std::optional<float>>("age"));
    BOOST_TEST(!r.get<std::optional<std::vector<int>>>("ids"));
    check_error<data_error>([&] { r.get<float>("age"); }, "field has no value", "field 'age'", "missing", "a value");
    check_error<data_error>([&] { r.get<std::vector<int>>("ids"); }, "field has no value", "field 'ids'");
    data::record known = whole();
    known.set_missing(4);   // a text that says "not known" stays
    BOOST_TEST(known.get<std::string>("work") == "Private");
    BOOST_TEST(!known.get<std::optional<std::string>>("work"));
    BOOST_TEST((known != whole()));
    BOOST_TEST((data::record() == data::record()));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit) {
    const data::record r = whole();
    const auto refuse = [&]<class T>(std::type_identity<T>, const char* name, std::string_view what,
                                     std::string_view got, std::string_view needed) {
        const std::string where = std::string("field '") + name + "'";
        check_error<data_error>([&] { schema().field<T>(name); }, what, where, got, needed);
        check_error<data_error>([&] { r.get<T>(name); }, what, where, got, needed);
    };
    refuse(std::type_identity<int>(), "age", "another type", "floats", "integers");
    refuse(std::type_identity<float>(), "hours", "another type", "integers", "floats");
    refuse(std::type_identity<std::optional<std::string>>(), "ids", "another type", "integers", "texts");
    refuse(std::type_identity<float>(), "matrix", "other extents", "[2, 3]", "[]");
    refuse(std::type_identity<std::array<float, 5>>(), "matrix", "other extents", "[2, 3]", "[5]");
    refuse(std::type_identity<std::array<std::array<float, 2>, 3>>(), "matrix", "other extents", "[2, 3]", "[3, 2]");
    check_error<data_error>([&] { r.get<int>("agee"); }, "no such field", "record", "'age', 'matrix', 'ids'", "'agee'");
    check_error<data_error>([&] { r.get<int>("ids"); }, "another number of values", "'ids'", "2", "1");
    data::record large = whole();
    large.set("hours", 300);
    check_error<data_error>([&] { large.get<std::uint8_t>("hours"); }, "beyond the number's range", "'hours'", "300",
                            "0 to 255");
    check_error<data_error>([&] { large.get<bool>("hours"); }, "beyond the number's range", "'hours'", "300", "0 to 1");
    check_error<data_error>([&] { large.set("age", 1).set("matrix", 1.f); }, "another number of values", "'matrix'",
                            "1", "6");
    check_error<data_error>([&] { large.set("pairs", "one"); }, "another number of values", "'pairs'", "1",
                            "a multiple of 2");
    check_error<data_error>([&] { large.set("age", "text"); }, "another type", "'age'", "floats", "texts");
    check_error<option_error>([&] { data::record_schema{{.name = "a"}, {.name = "b"}, {.name = "a"}}; },
                              "two fields of one name", "record_schema", "'a'");
    check_error<option_error>([&] { data::record_schema{{.name = ""}}; }, "without a name", "field 0");
    for (const std::vector<std::int64_t>& e : {std::vector<std::int64_t>{0}, {2, -1}, {1 << 20, 1 << 20}})
        check_error<option_error>([&] { data::record_schema{{.name = "a", .extents = e}}; }, "impossible extents",
                                  "'a'");
    BOOST_TEST((schema() == data::record_schema(schema())));
    BOOST_TEST(!(schema() == data::record_schema()));
    BOOST_TEST((data::record_schema() == data::record_schema(std::vector<data::record_field>())));
    check_error<data_error>([] { data::record().get<float>("age"); }, "no such field", "record", "none", "'age'");
}
