// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE fitted_fields
#include <boost/test/unit_test.hpp>
#include <sinter/data/fitted_fields.hpp>
#include <map>
#include <string>

// Which field of an element goes to which input or target of a model.
using namespace sinter;
using namespace sinter::data;
using element_parts::same_extents;

namespace {

constexpr port_info floats(const char* name, auto... e) {
    return {.s = {.rank = sizeof...(e), .d = {e...}}, .name = name};
}
constexpr port_info labels(const char* name = "") { return {.s = {.type = dtype::i32}, .below = 10, .name = name}; }
constexpr port_info weight() { return {.s = {}, .weight = true}; }

template <int Inputs, int Targets>
struct list {
    port_info in[std::size_t{Inputs + !Inputs}], to[std::size_t{Targets + !Targets}];
    bool predicts = false;
    constexpr model_ports ports() const { return {{in, Inputs}, {to, Targets}, predicts}; }
};

/// What became of T's fields: that of each port, in order, if all fit; else the fault, its field and its port.
struct found {
    field_fault fault = field_fault::none;
    int field = -1, port = -1;
    std::array<int, 4> field_of{-1, -1, -1, -1};
    constexpr bool operator==(const found&) const = default;
};
template <class T, int Inputs, int Targets>
constexpr found fit_of(const list<Inputs, Targets>& l) {
    const auto r = element_parts::fit<Inputs + Targets>(fields_of_element<T>, l.ports());
    found f{r.fault, r.field, r.port};
    for (std::size_t p = 0; p < Inputs + Targets && r.fault == field_fault::none; ++p) f.field_of[p] = r.field_of[p];
    return f;
}
constexpr found fits(int a, int b = -1, int c = -1, int d = -1) { return {field_fault::none, -1, -1, {a, b, c, d}}; }
constexpr found fails(field_fault f, int field, int port) { return {f, field, port}; }

struct sample { std::array<float, 3> x; std::int32_t rich; };
constexpr list<1, 1> one{{floats("", 3)}, {labels()}};
static_assert(fit_of<sample>(one) == fits(0, 1));
static_assert(fit_of<std::tuple<float[3], bool>>(one) == fits(0, 1));

// By order: inputs, targets, weights. What is extra is passed over.
struct everything { extra<int> a; float x[2]; std::int32_t y; extra<std::string> b; int digit; float share; };
constexpr list<2, 2> four{{floats("", 2), {.s = {.type = dtype::i32}, .below = 5}}, {labels(), weight()}};
static_assert(fit_of<everything>(four) == fits(1, 2, 4, 5));
struct without_weight { float x[2]; int y, digit; };
static_assert(fit_of<without_weight>(four) == fails(field_fault::is_missing, -1, 3));

// By name, in any order; the weight, which has none, is what is left.
struct mixed { float share; int digit; extra<int> more; float second[2]; float first[2]; };
constexpr list<2, 2> named{{floats("first", 2), floats("second", 2)}, {labels("digit"), weight()}};
static_assert(fit_of<mixed>(named) == fits(4, 3, 1, 0));
struct misspelt { float share; int digit; float secnd[2]; float first[2]; };
static_assert(fit_of<misspelt>(named) == fails(field_fault::is_missing, -1, 1));
static_assert(fit_of<std::tuple<float[2], float[2], int, float>>(named) == fails(field_fault::is_missing, -1, 0));
struct hidden { float first[2]; extra<float[2]> second; int digit; float share; };
static_assert(fit_of<hidden>(named) == fails(field_fault::cannot_be_in_a_batch, 1, 1));
// Two of a name: the first of them, and the other one is too many.
struct inner { float first[2]; };
struct twice { float first[2]; float second[2]; inner again; int digit; float share; };
static_assert(fit_of<twice>(named) == fails(field_fault::has_other_extents, 2, 3));   // as the weight
// Where only some ports have names the others get what is left, in order.
constexpr list<2, 1> half{{floats("", 2), floats("age", 1)}, {labels()}};
struct of_half { float age; float place[2]; int rich; };
static_assert(fit_of<of_half>(half) == fits(1, 0, 2));

// Too many, too few.
struct too_many { std::array<float, 3> x; std::int32_t rich; float age; };
static_assert(fit_of<too_many>(one) == fails(field_fault::fits_no_port, 2, -1));
static_assert(fit_of<std::array<float, 3>>(one) == fails(field_fault::is_missing, -1, 1));
struct empty {};
static_assert(fit_of<empty>(one) == fails(field_fault::is_missing, -1, 0));
static_assert(fit_of<std::tuple<extra<sample>>>(one) == fails(field_fault::is_missing, -1, 0));

// Who predicts leaves out the fields that are not inputs, of whatever type they are.
constexpr list<1, 0> predicting{{floats("", 3)}, {}, true};
constexpr list<1, 0> not_predicting{{floats("", 3)}, {}};
static_assert(fit_of<sample>(predicting) == fits(0) && fit_of<std::array<float, 3>>(predicting) == fits(0));
struct with_text { std::array<float, 3> x; std::string income; double exact; };
static_assert(fit_of<with_text>(predicting) == fits(0));
static_assert(fit_of<sample>(not_predicting) == fails(field_fault::fits_no_port, 1, -1));

// Numbers, extents, and what no batch has columns for.
static_assert(fit_of<std::tuple<int[3], int>>(one) == fails(field_fault::has_other_numbers, 0, 0));
static_assert(fit_of<std::tuple<float[3], float>>(one) == fails(field_fault::has_other_numbers, 1, 1));
static_assert(fit_of<std::tuple<float[4], int>>(one) == fails(field_fault::has_other_extents, 0, 0));
static_assert(fit_of<std::tuple<float[3], int[2]>>(one) == fails(field_fault::has_other_extents, 1, 1));
static_assert(fit_of<std::tuple<std::vector<float>, int>>(one) == fails(field_fault::has_different_sizes, 0, 0));
static_assert(fit_of<std::tuple<std::string, int>>(one) == fails(field_fault::has_different_sizes, 0, 0));
static_assert(fit_of<std::tuple<double[3], int>>(one) == fails(field_fault::cannot_be_in_a_batch, 0, 0));
static_assert(fit_of<std::tuple<float[3], std::int64_t>>(one) == fails(field_fault::cannot_be_in_a_batch, 1, 1));
// Of several faults the first one, as ports are counted.
static_assert(fit_of<std::tuple<double, double, double>>(one) == fails(field_fault::cannot_be_in_a_batch, 0, 0));

// A picture's pixels are floats.
constexpr list<1, 1> picture{{floats("", 2, 3, 1)}, {labels()}};
static_assert(fit_of<std::tuple<pixels<2, 3>, int>>(picture) == fits(0, 1));
static_assert(fit_of<std::tuple<pixels<3, 2>, int>>(picture) == fails(field_fault::has_other_extents, 0, 0));
static_assert(fit_of<std::tuple<float[2][3], int>>(picture) == fits(0, 1));
static_assert(fit_of<std::tuple<float[6], int>>(picture) == fits(0, 1));

// Axes of one do not count; as many numbers in one axis are enough.
static_assert(same_extents(extents(4), extents(2, 2)) && same_extents(extents(1), shape{}));
static_assert(same_extents(extents(2, 3), extents(2, 3)) && !same_extents(extents(2, 3), extents(3, 2)));
static_assert(same_extents(extents(2, 3, 1), extents(2, 3)) && same_extents(extents(1, 2, 1, 3), extents(2, 3, 1)));
static_assert(!same_extents(extents(2, 6), extents(3, 4)) && !same_extents(extents(2, 3), extents(6)));
static_assert(same_extents(extents(1, 1), shape{}) && !same_extents(extents(2), shape{}));

constexpr list<1, 3> all_ports{{floats("x", 2, 3)},
                               {labels("digit"), floats("price"), {.s = {.rank = 1, .d = {2}}, .weight = true}}};
constexpr model_ports of_all = all_ports.ports();

} // namespace

BOOST_AUTO_TEST_CASE(columns_are_the_ports) {
    const column_list c = columns_of_ports<of_all>();
    BOOST_TEST_REQUIRE(c.size() == 4u);
    const role uses[] = {role::input, role::label, role::target, role::weight};
    const shape rows[] = {extents(2, 3), {.type = dtype::i32, .rank = 1, .d = {1}}, extents(1), extents(2)};
    const std::string names[] = {"x", "digit", "price", ""};
    for (std::size_t i = 0; i < 4; ++i) {
        BOOST_TEST((c[i].use == uses[i]));
        BOOST_TEST((c[i].row == rows[i]));
        BOOST_TEST(!c[i].pixels);
        BOOST_TEST(std::string(c[i].name ? c[i].name : "") == names[i]);
    }
}

namespace {

/// A field or a port by one letter (f, g: floats of two extents; i: a whole number; v: a vector; e: extra) and a name.
struct drawn { char what; std::string_view name; };
element_field field_of(const drawn& d) {
    const field_form forms[] = {{field_form::column, false, extents(2)}, {field_form::column, false, extents(3)},
                                {field_form::column, false, {.type = dtype::i32, .rank = 1, .d = {1}}},
                                {field_form::of_any_size, false, {}}, {field_form::beside, false, {}}};
    return {d.name, forms[std::string_view("fgive").find(d.what)]};
}
bool go_together(const drawn& field, const drawn& port) { return field.what == port.what; }

} // namespace

// Against the rule said once more: each named port takes the first field of its name; then the other ports take what is
// left and not extra, in order; then nothing may be left. Random lists of 4 fields and 3 ports.
BOOST_AUTO_TEST_CASE(random_lists_fit_as_the_rule_says) {
    std::uint32_t state = 12345;
    const auto below = [&](std::uint32_t n) { return (state = state * 1664525u + 1013904223u) / 65536u % n; };
    const std::string_view names[] = {"", "a", "b", "c"};
    int fitting = 0;
    for (int round = 0; round < 20000; ++round) {
        drawn fields[4], ports[3];
        for (drawn& p : ports) p = {"fi"[below(2)], names[below(4)]};
        std::array<element_field, 4> element;
        for (std::size_t f = 0; f < 4; ++f) {
            fields[f] = {below(8) ? "fi"[below(2)] : "gve"[below(3)], names[below(4)]};
            if (f == 3) fields[f].what = 'e';
            element[f] = field_of(fields[f]);
        }
        port_info infos[3];
        for (int p = 0; p < 3; ++p) infos[p] = {.s = field_of(ports[p]).form.row, .name = ports[p].name.data()};
        const bool predicts = below(4) == 0;
        const auto got = element_parts::fit<3>(element, {{infos, 2}, {infos + 2, 1}, predicts});

        std::map<int, int> of_port;
        bool good = true;
        std::vector<int> left{0, 1, 2, 3};
        for (int p = 0; p < 3; ++p)
            if (!ports[p].name.empty()) {
                const auto at = std::find_if(left.begin(), left.end(),
                                             [&](int f) { return fields[f].name == ports[p].name; });
                if (at == left.end()) good = false;
                else of_port[p] = *at, left.erase(at);
            }
        std::erase_if(left, [&](int f) { return fields[f].what == 'e'; });
        for (int p = 0; p < 3; ++p)
            if (ports[p].name.empty()) {
                if (left.empty()) good = false;
                else of_port[p] = left.front(), left.erase(left.begin());
            }
        for (const auto& [p, f] : of_port) good = good && go_together(fields[f], ports[p]);
        good = good && (left.empty() || predicts);

        BOOST_TEST_REQUIRE((got.fault == field_fault::none) == good);
        for (const auto& [p, f] : of_port) BOOST_TEST_REQUIRE((!good || got.field_of[p] == f));
        fitting += good;
    }
    BOOST_TEST(fitting > 200);
}
