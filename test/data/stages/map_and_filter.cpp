// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE stages_map_and_filter
#include <boost/test/unit_test.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <memory>
#include <string>

// Functions of elements, and elements left out.
using namespace sinter;

namespace {

template <class Stages>
auto all_of(const Stages& s, std::int64_t pass = 0) {
    std::vector<typename Stages::value_type> all;
    for (const auto& e : data::elements(s, pass)) all.push_back(e);
    return all;
}
using list = std::vector<std::int64_t>;
constexpr auto draw = [](std::int64_t i, random_stream& random) {
    return std::pair<std::int64_t, std::uint32_t>{i, random.word()};
};
using drawn = std::vector<std::pair<std::int64_t, std::uint32_t>>;

/// What a map that draws gives of these elements: random numbers of (seed, pass, the element's number there).
drawn expected(const list& elements, std::uint64_t seed, std::int64_t pass, std::uint64_t maps_before = 0) {
    drawn all;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const auto b = base::philox_at(base::stream(seed, base::fnv1a("data/map") + maps_before), i,
                                       static_cast<std::uint64_t>(pass));
        random_stream random((std::uint64_t{b.word[1]} << 32) | b.word[0]);
        all.push_back({elements[i], random.word()});
    }
    return all;
}
struct multiplied {
    std::int64_t by;
    std::int64_t operator()(std::int64_t i) const { return i * by; }
    void describe(description& d) const { d("by", by); }
};
struct divides {
    std::int64_t n;
    bool operator()(std::int64_t i) const { return i % n == 0; }
    void describe(description& d) const { d("n", n); }
};

} // namespace

BOOST_AUTO_TEST_CASE(each_element_goes_through) {
    const auto as_text = [](std::int64_t i) { return std::to_string(i); };
    const auto s = data::range(4) | data::map(multiplied{3}) | data::map(as_text);
    static_assert(data::indexed_stage<std::remove_const_t<decltype(s)>> && decltype(s)::maps == 2);
    BOOST_TEST(all_of(s) == (std::vector<std::string>{"0", "3", "6", "9"}));
    BOOST_TEST(s.size() == 4);
    // What it gives may be moved only; what it gives a reference to is copied.
    const auto moved = data::range(2) | data::map([](std::int64_t i) { return std::make_unique<std::int64_t>(i); });
    std::int64_t sum = 0;
    for (const auto& p : data::elements(moved)) sum += *p + 1;
    BOOST_TEST(sum == 3);
    const std::string kept = "kept";
    const auto same = data::range(2) | data::map([&](std::int64_t) -> const std::string& { return kept; });
    static_assert(std::is_same_v<decltype(same)::value_type, std::string>);
    BOOST_TEST(all_of(same) == (std::vector<std::string>{"kept", "kept"}));
}

BOOST_AUTO_TEST_CASE(random_numbers_are_of_seed_pass_and_place) {
    const auto s = data::range(10, 15) | data::map(draw, 7);
    for (const std::int64_t pass : {0, 1, 0, 9}) {
        const list in{10, 11, 12, 13, 14};
        BOOST_TEST((all_of(s, pass) == expected(in, 7, pass)));
        // A second map has numbers of its own; the place is that behind the shuffle and the filter.
        const auto more = data::range(10, 15) | data::map(multiplied{1}) | data::shuffle({.seed = 2})
            | data::filter([](std::int64_t i) { return i != 12; }) | data::map(draw, 7);
        list left = all_of(data::range(10, 15) | data::shuffle({.seed = 2}), pass);
        std::erase(left, 12);
        BOOST_TEST((all_of(more, pass) == expected(left, 7, pass, 1)));
    }
    decltype(s)::state state;   // in any order
    s.begin(state, 3);
    for (const std::int64_t i : {4, 0, 2, 4}) {
        const list in{10, 11, 12, 13, 14};
        BOOST_TEST((s.get(state, i) == expected(in, 7, 3)[static_cast<std::size_t>(i)]));
    }
}

BOOST_AUTO_TEST_CASE(a_filter_leaves_out) {
    const auto s = data::range(20) | data::filter(divides{3});
    static_assert(data::stream_stage<std::remove_const_t<decltype(s)>>);
    BOOST_TEST(all_of(s) == (list{0, 3, 6, 9, 12, 15, 18}));
    BOOST_TEST(all_of(s, 4) == (list{0, 3, 6, 9, 12, 15, 18}));
    BOOST_TEST(s.size() == data::unknown_size);
    BOOST_TEST(all_of(s | data::filter(divides{2}) | data::map(multiplied{10})) == (list{0, 60, 120, 180}));
    BOOST_TEST(all_of(data::range(9) | data::filter([](std::int64_t) { return false; })).empty());
    BOOST_TEST(all_of(data::range(0) | data::filter(divides{2})).empty());
    const auto endless = data::from(data::endless, multiplied{1}) | data::filter(divides{2});
    BOOST_TEST(endless.size() == data::endless);
    // Asked at the end again, it is still the end.
    decltype(s)::state state;
    decltype(s)::cursor at{};
    decltype(s)::ticket k;
    s.begin(state, 0);
    for (int i = 0; i < 7; ++i) BOOST_TEST(s.next(state, at, k));
    for (int i = 0; i < 3; ++i) BOOST_TEST(!s.next(state, at, k));
}

BOOST_AUTO_TEST_CASE(a_cursor_is_all_that_must_be_known) {
    const auto s = data::range(30) | data::shuffle({.seed = 4}) | data::filter(divides{2}) | data::map(draw)
        | data::filter([](const auto& e) { return e.second % 4 != 0; });
    using stage = std::remove_const_t<decltype(s)>;
    const drawn whole = all_of(s, 6);
    stage::state first;
    stage::cursor at{};
    s.begin(first, 6);
    for (std::size_t from = 0; from <= whole.size(); ++from) {
        stage::state fresh, of_another;   // and get() is another thread's
        stage::cursor copy = at;
        s.begin(fresh, 6);
        s.begin(of_another, 6);
        drawn rest;
        for (stage::ticket k; s.next(fresh, copy, k);) rest.push_back(s.get(of_another, k));
        BOOST_TEST((rest == drawn(whole.begin() + static_cast<std::ptrdiff_t>(from), whole.end())));
        stage::ticket k;
        BOOST_TEST(s.next(first, at, k) == (from < whole.size()));
    }
}

BOOST_AUTO_TEST_CASE(settings_are_described) {
    const auto text = [](const auto& s) {
        description d;
        s.describe(d);
        return d.text();
    };
    const auto s = [](std::int64_t by, std::int64_t n, std::uint64_t seed) {
        return data::range(9) | data::map(multiplied{by}) | data::filter(divides{n}) | data::map(draw, seed);
    };
    BOOST_TEST(text(s(2, 3, 1)) == text(s(2, 3, 1)));
    BOOST_TEST(text(s(2, 3, 1)) != text(s(5, 3, 1)));
    BOOST_TEST(text(s(2, 3, 1)) != text(s(2, 4, 1)));
    BOOST_TEST(text(s(2, 3, 1)) != text(s(2, 3, 2)));
}
