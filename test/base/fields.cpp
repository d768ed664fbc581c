// SPDX-License-Identifier: BSL-1.0
// alone: it specializes a template of the library
// Structs taken apart: counted, named and visited as they are written down here.
#define BOOST_TEST_MODULE fields
#include <boost/test/unit_test.hpp>
#include <sinter/base/fields.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace sinter::base;

namespace {

struct nothing {};
struct one { std::array<std::uint8_t, 784> pixels; };
struct sample {
    float x[28][28];
    std::int32_t label;
};
struct point { float x, y; };
struct passenger {
    float age;
    std::string workclass;
    int hours_per_week = 40;
    std::array<float, 3> more;
    std::vector<int> seen;
    point at;
    std::tuple<int, double> pair;
    bool _rich2;
};
struct with_constant {
    const int id = 3;
    double x;
};
#define EIGHT(p) int p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7;
struct most { EIGHT(a) EIGHT(b) EIGHT(c) EIGHT(d) EIGHT(e) EIGHT(f) EIGHT(g) EIGHT(h) };
struct renamed { int a, b; };
struct same_ends { int value, object, x; };   // words that the compilers' own text has, too

/// A struct of N fields for each N, by nesting macros of other names than the header's.
template <int N>
struct of_fields;
#define OF(n, ...) template <> struct of_fields<n> { int __VA_ARGS__; };
OF(2, a, b) OF(3, a, b, c) OF(4, a, b, c, d) OF(7, a, b, c, d, e, f, g) OF(8, a, b, c, d, e, f, g, h)
OF(9, a, b, c, d, e, f, g, h, i) OF(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
OF(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) OF(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
template <> struct of_fields<33> { EIGHT(a) EIGHT(b) EIGHT(c) EIGHT(d) int last; };
template <> struct of_fields<47> { EIGHT(a) EIGHT(b) EIGHT(c) EIGHT(d) EIGHT(e) int k, l, m, n, o, p, last; };
template <>
struct of_fields<63> { EIGHT(a) EIGHT(b) EIGHT(c) EIGHT(d) EIGHT(e) EIGHT(f) EIGHT(g) int h, i, j, k, l, m, n; };

} // namespace

template <>
inline constexpr std::array<std::string_view, 2> sinter::base::names_of_fields<renamed>{"first", "second one"};

BOOST_AUTO_TEST_CASE(counts) {
    static_assert(field_count<nothing> == 0 && field_count<one> == 1 && field_count<sample> == 2);
    static_assert(field_count<passenger> == 8 && field_count<const passenger> == 8 && field_count<most> == 64);
    static_assert(field_count<with_constant> == 2);
    []<int... N>(std::integer_sequence<int, N...>) {
        static_assert(((field_count<of_fields<N>> == N) && ...));
    }(std::integer_sequence<int, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33, 47, 63>{});
}

BOOST_AUTO_TEST_CASE(types) {
    static_assert(std::is_same_v<field_type<sample, 0>, float[28][28]>);
    static_assert(std::is_same_v<field_type<passenger, 3>, std::array<float, 3>>);
    static_assert(std::is_same_v<field_type<const passenger, 1>, const std::string>);
    static_assert(std::is_same_v<field_type<with_constant, 0>, const int>);
}

BOOST_AUTO_TEST_CASE(names) {
    const auto named = [](auto& v) {
        std::string all;
        for_each_field(v, [&](std::string_view name, auto&) { (all += name) += ' '; });
        return all;
    };
    sample s{};
    passenger p{};
    const renamed r{};
    same_ends e{};
    most m{};
    with_constant c{};
    BOOST_TEST(named(s) == "x label ");
    BOOST_TEST(named(p) == "age workclass hours_per_week more seen at pair _rich2 ");
    BOOST_TEST(named(r) == "first second one ");
    BOOST_TEST(named(e) == "value object x ");
    BOOST_TEST(named(c) == "id x ");
    std::string all;
    for (const char* p8 : {"a", "b", "c", "d", "e", "f", "g", "h"})
        for (int i = 0; i < 8; ++i) all += p8 + std::to_string(i) + " ";
    BOOST_TEST(named(m) == all);
}

BOOST_AUTO_TEST_CASE(fields_are_references) {
    most m{};
    int n = 0;
    for_each_field(m, [&](std::string_view, int& x) { x = n++; });
    BOOST_TEST(m.a0 == 0);
    BOOST_TEST(m.b3 == 11);
    BOOST_TEST(m.h7 == 63);
    sample s{};
    field<0>(s)[27][3] = 5;
    BOOST_TEST(s.x[27][3] == 5);
    static_assert([] {
        point p{1, 2};
        field<1>(p) = 3;
        return with_fields(p, [](float x, float y) { return x + y; });
    }() == 4);
    nothing none;
    with_fields(none, [] {});
}
