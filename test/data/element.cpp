// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE element
#include <boost/test/unit_test.hpp>
#include <sinter/data/element.hpp>
#include <optional>
#include <string_view>

// What fields an element has, and how they are written to the rows of a batch.
using namespace sinter;
using data::field_form;

namespace {

constexpr data::element_field column(std::string_view name, dtype type, auto... extents) {
    return {name, {field_form::column, false, {.type = type, .rank = sizeof...(extents), .d = {extents...}}}};
}
constexpr data::element_field pixels(std::string_view name, int h, int w, int c) {
    return {name, {field_form::column, true, {.rank = 3, .d = {h, w, c}}}};
}
constexpr data::element_field other(std::string_view name, field_form::kind_type kind, shape of_one = {}) {
    return {name, {kind, false, of_one}};
}
constexpr bool same(const data::element_field& a, const data::element_field& b) {
    return a.name == b.name && a.form.kind == b.form.kind && a.form.pixels == b.form.pixels && a.form.row == b.form.row;
}
template <class T>
constexpr bool has(auto... fields) {
    if (data::element_fields<T> != sizeof...(fields)) return false;
    std::size_t i = 0;
    return (same(data::fields_of_element<T>[i++], fields) && ...);
}
constexpr dtype f32 = dtype::f32, i32 = dtype::i32;

// A number or an array is an element of one field without a name.
static_assert(has<float>(column("", f32, 1)));
static_assert(has<bool>(column("", i32, 1)) && has<std::int8_t>(column("", i32, 1)));
static_assert(has<std::uint8_t>(column("", i32, 1)) && has<std::int16_t>(column("", i32, 1)));
static_assert(has<std::uint16_t>(column("", i32, 1)) && has<std::int32_t>(column("", i32, 1)));
static_assert(has<std::array<float, 3>>(column("", f32, 3)));
static_assert(has<std::array<std::array<short, 3>, 2>>(column("", i32, 2, 3)));
static_assert(has<data::pixels<4, 5, 3>>(pixels("", 4, 5, 3)));
// No row of a batch is made of numbers that it would have to round or to cut.
static_assert(has<double>(other("", field_form::unknown)) && has<std::uint32_t>(other("", field_form::unknown)));
static_assert(has<std::int64_t>(other("", field_form::unknown)) && has<std::size_t>(other("", field_form::unknown)));
static_assert(has<std::array<double, 2>>(other("", field_form::unknown)));
static_assert(has<std::array<float, 0>>(other("", field_form::unknown)));   // nor of none, nor of six axes
static_assert(has<std::array<float[1][1][1], 1>>(column("", f32, 1, 1, 1, 1)));
static_assert(has<std::array<float[1][1][1][1], 1>>(column("", f32, 1, 1, 1, 1, 1)));
static_assert(has<std::array<float[1][1][1][1][1], 1>>(other("", field_form::unknown)));

enum class colour { red };
struct place { float longitude, latitude; };
struct all_kinds {
    float age;
    bool member;
    std::uint8_t byte;
    const std::int32_t number;
    float row[3];
    std::array<float, 2> fares[4];
    data::pixels<2, 2> image;
    data::extra<std::string> file;
    std::vector<float> any;
    std::vector<std::array<std::int8_t, 3>> triples;
    std::string text;
    std::string_view view;
    std::optional<float> perhaps;
    colour paint;
    std::array<place, 2> places;
    std::array<data::pixels<2, 2>, 2> images;
    std::vector<std::string> texts;
};
static_assert(has<all_kinds>(
    column("age", f32, 1), column("member", i32, 1), column("byte", i32, 1), column("number", i32, 1),
    column("row", f32, 3), column("fares", f32, 4, 2), pixels("image", 2, 2, 1), other("file", field_form::beside),
    other("any", field_form::of_any_size),
    other("triples", field_form::of_any_size, {.type = i32, .rank = 1, .d = {3}}),
    other("text", field_form::of_any_size), other("view", field_form::unknown), other("perhaps", field_form::unknown),
    other("paint", field_form::unknown), other("places", field_form::unknown), other("images", field_form::unknown),
    other("texts", field_form::unknown)));

// A struct within one stands for its fields; so does a tuple.
struct stop { place where; int minutes; };
struct journey { float price; stop first; std::tuple<short, place> then; data::extra<place> from; struct {} nothing; };
static_assert(has<journey>(column("price", f32, 1), column("longitude", f32, 1), column("latitude", f32, 1),
                           column("minutes", i32, 1), column("", i32, 1), column("longitude", f32, 1),
                           column("latitude", f32, 1), other("from", field_form::beside)));
static_assert(has<std::tuple<std::array<float, 2>, stop, bool>>(
    column("", f32, 2), column("longitude", f32, 1), column("latitude", f32, 1), column("minutes", i32, 1),
    column("", i32, 1)));
static_assert(has<std::pair<float, int>>(column("", f32, 1), column("", i32, 1)));
static_assert(has<std::tuple<>>());

// What does not come apart is one field that no batch has a column for.
struct with_a_constructor { float x; with_a_constructor() : x(0) {} };
struct derived : place { float height; };
struct bound { const float& x; };
struct outer { derived of; with_a_constructor made; };
static_assert(has<with_a_constructor>(other("", field_form::unknown)));
static_assert(has<derived>(other("", field_form::unknown)) && has<bound>(other("", field_form::unknown)));
static_assert(has<outer>(other("of", field_form::unknown), other("made", field_form::unknown)));
using data::element_parts::kept_together;
static_assert(std::is_same_v<kept_together<derived>, derived> && std::is_same_v<kept_together<outer>, derived>);
static_assert(std::is_same_v<kept_together<with_a_constructor>, with_a_constructor>);
static_assert(std::is_void_v<kept_together<all_kinds>> && std::is_void_v<kept_together<journey>>);
static_assert(std::is_void_v<kept_together<double>>);

/// What write_field() makes of a field, in n numbers of which the last must stay.
template <class Number, class F>
std::vector<Number> written(const F& field, std::size_t n) {
    std::vector<Number> row(n + 1, Number{77});
    data::write_field(field, row.data());
    BOOST_TEST(row.back() == Number{77});
    row.pop_back();
    return row;
}
template <class F>
std::vector<std::int32_t> whole(const F& field, std::size_t n = 1) { return written<std::int32_t>(field, n); }

} // namespace

BOOST_AUTO_TEST_CASE(numbers_are_written_as_they_are) {
    using ints = std::vector<std::int32_t>;
    using floats = std::vector<float>;
    BOOST_TEST(written<float>(0.1f, 1) == floats{0.1f});
    BOOST_TEST(whole(true) == ints{1});
    BOOST_TEST(whole(false) == ints{0});
    BOOST_TEST(whole(std::int8_t{-128}) == ints{-128});
    BOOST_TEST(whole(std::uint8_t{255}) == ints{255});
    BOOST_TEST(whole(std::int16_t{-32768}) == ints{-32768});
    BOOST_TEST(whole(std::uint16_t{65535}) == ints{65535});
    BOOST_TEST(whole(std::int32_t{INT32_MIN}) == ints{INT32_MIN});
    BOOST_TEST(whole(std::array<bool, 3>{true, false, true}, 3) == (ints{1, 0, 1}));
    const float row[2][3] = {{1, 2, 3}, {4, 5, 6}};
    BOOST_TEST(written<float>(row, 6) == (floats{1, 2, 3, 4, 5, 6}));
    const std::array<std::array<std::int16_t, 2>, 2> nested{{{1, -2}, {3, -4}}};
    BOOST_TEST(whole(nested, 4) == (ints{1, -2, 3, -4}));
    BOOST_TEST(written<float>(std::array<float, 2>{-0.f, 1e-40f}, 2) == (floats{-0.f, 1e-40f}));
}

BOOST_AUTO_TEST_CASE(pixels_are_shares_of_255) {
    data::pixels<16, 17> all{};
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 17; ++j) all(i, j) = static_cast<std::uint8_t>(16 * i + j);
    const std::vector<float> row = written<float>(all, 16 * 17);
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 17; ++j)
            BOOST_TEST(row[static_cast<std::size_t>(17 * i + j)] == static_cast<float>((16 * i + j) % 256) / 255.f);
    data::pixels<2, 2, 3> colours{};
    colours(1, 0, 2) = 51;
    BOOST_TEST(colours.bytes[8] == 51);
    BOOST_TEST(written<float>(colours, 12)[8] == 0.2f);
}

BOOST_AUTO_TEST_CASE(fields_are_visited_in_order) {
    journey j{1.5f, {{2, 3}, 4}, {short{5}, {6, 7}}, {{8, 9}}, {}};
    std::vector<double> seen;
    data::for_each_element_field(std::as_const(j), [&](auto i, const auto& field) {
        BOOST_TEST(static_cast<std::size_t>(i) == seen.size());
        if constexpr (requires { double{static_cast<double>(field)}; }) seen.push_back(static_cast<double>(field));
        else seen.push_back(static_cast<double>(field.value.latitude));
    });
    BOOST_TEST(seen == (std::vector<double>{1.5, 2, 3, 4, 5, 6, 7, 9}));
    data::for_each_element_field(j, [](auto i, auto& field) {
        if constexpr (i == 2) field = 30;
    });
    BOOST_TEST(j.first.where.latitude == 30.f);
    int single = 7;
    data::for_each_element_field(single, [](auto, int& n) { ++n; });
    BOOST_TEST(single == 8);
}
