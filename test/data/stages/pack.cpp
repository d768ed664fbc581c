// SPDX-License-Identifier: BSL-1.0
// pack() and pad_to(): sequences of different lengths in rows of one.
#define BOOST_TEST_MODULE data_stages_pack
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/element.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/pack.hpp>
#include <sinter/data/stages/pad_to.hpp>
#include <sinter/data/stages/source.hpp>
#include <algorithm>
#include <numeric>

namespace pack_test {

using namespace sinter;
using stage_test::elements_of;
using stage_test::goes_on_anywhere;
using sequence = std::vector<std::int32_t>;
using sequences = std::vector<sequence>;

/// Rows as lists of sequences.
template <int N>
std::vector<sequences> rows_of(const std::vector<data::packed_row<N>>& packed, std::int32_t padding = 0) {
    std::vector<sequences> rows;
    for (const data::packed_row<N>& p : packed) {
        sequences& row = rows.emplace_back();
        for (std::size_t i = 0; i < N; ++i) {
            const auto segment = static_cast<std::size_t>(p.segments[i]);
            if (segment == 0) {
                BOOST_REQUIRE(p.tokens[i] == padding && p.positions[i] == 0);
                BOOST_REQUIRE((i + 1 == N || p.segments[i + 1] == 0));
                continue;
            }
            if (segment == row.size() + 1) row.emplace_back();
            BOOST_REQUIRE(segment == row.size());
            BOOST_REQUIRE(p.positions[i] == static_cast<std::int32_t>(row.back().size()));
            row.back().push_back(p.tokens[i]);
        }
    }
    return rows;
}
std::size_t used(const sequences& row) {
    std::size_t n = 0;
    for (const sequence& s : row) n += s.size();
    return n;
}
std::vector<sequences> first_fit(const sequences& all, std::size_t n, std::size_t window) {
    std::vector<sequences> out;
    for (std::size_t first = 0; first < all.size(); first += window) {
        std::vector<sequences> rows;
        for (std::size_t i = first; i < std::min(all.size(), first + window); ++i) {
            if (all[i].empty()) continue;
            auto row = std::find_if(rows.begin(), rows.end(),
                                    [&](const auto& r) { return used(r) + all[i].size() <= n; });
            if (row == rows.end()) row = rows.insert(row, sequences{});
            row->push_back(all[i]);
        }
        out.insert(out.end(), rows.begin(), rows.end());
    }
    return out;
}
sequences drawn(std::uint64_t seed, int n, std::uint32_t longest) {
    random_stream random(seed);
    sequences all;
    for (int i = 0; i < n; ++i) {
        sequence& s = all.emplace_back();
        for (std::uint32_t left = random.below(longest + 1); left > 0; --left)
            s.push_back(static_cast<std::int32_t>(random.below(1000)));
    }
    return all;
}

BOOST_AUTO_TEST_CASE(by_hand) {
    const sequences all{{1, 2, 3}, {4, 5, 6}, {7}, {}, {8, 9}, {10}};
    const auto packed = elements_of(data::rows(all) | data::pack<4>({.padding = -1}));
    BOOST_REQUIRE(packed.size() == 3u);
    BOOST_TEST((packed[0].tokens == std::array<std::int32_t, 4>{1, 2, 3, 7}));
    BOOST_TEST((packed[0].segments == std::array<std::int32_t, 4>{1, 1, 1, 2}));
    BOOST_TEST((packed[0].positions == std::array<std::int32_t, 4>{0, 1, 2, 0}));
    BOOST_TEST((packed[1].tokens == std::array<std::int32_t, 4>{4, 5, 6, 10}));
    BOOST_TEST((packed[2].tokens == std::array<std::int32_t, 4>{8, 9, -1, -1}));
    BOOST_TEST((packed[2].segments == std::array<std::int32_t, 4>{1, 1, 0, 0}));
    BOOST_TEST((packed[2].positions == std::array<std::int32_t, 4>{0, 1, 0, 0}));
    BOOST_TEST((rows_of(elements_of(data::rows(all) | data::pack<4>({.split = true}))) ==
                std::vector<sequences>{{{1, 2, 3}, {4}}, {{5, 6}, {7}, {8}}, {{9}, {10}}}));
}

BOOST_AUTO_TEST_CASE(first_fit_in_windows) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const sequences all = drawn(seed, 50, 8);
        for (const std::int64_t window : {1, 2, 7, 49, 50, 51, 1024}) {
            const auto s = data::rows(all) | data::pack<8>({.window = window});
            BOOST_REQUIRE((rows_of(elements_of(s)) == first_fit(all, 8, static_cast<std::size_t>(window))));
            if (seed < 2) goes_on_anywhere(s);
        }
    }
    goes_on_anywhere(data::rows(sequences{}) | data::pack<8>());
    goes_on_anywhere(data::rows(sequences(5)) | data::pack<8>({.window = 2}));
    goes_on_anywhere(data::rows(drawn(1, 40, 6)) | data::filter([](const sequence& s) { return s.size() != 3; }) |
                     data::pack<6>({.window = 8}));
}

BOOST_AUTO_TEST_CASE(split) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const sequences all = drawn(seed, 40, 30);   // some through several rows
        for (const std::size_t window : {1u, 5u, 40u, 100u}) {
            const auto s = data::rows(all) |
                data::pack<8>({.window = static_cast<std::int64_t>(window), .split = true});
            const auto rows = rows_of(elements_of(s));
            std::size_t r = 0;
            for (std::size_t first = 0; first < all.size(); first += window) {
                sequence whole, got;
                for (std::size_t i = first; i < std::min(all.size(), first + window); ++i)
                    whole.insert(whole.end(), all[i].begin(), all[i].end());
                for (std::size_t left = whole.size(); left > 0; left -= std::min<std::size_t>(left, 8), ++r) {
                    BOOST_REQUIRE(used(rows[r]) == std::min<std::size_t>(left, 8));
                    for (const sequence& part : rows[r]) got.insert(got.end(), part.begin(), part.end());
                }
                BOOST_REQUIRE(got == whole);
            }
            BOOST_REQUIRE(r == rows.size());
            goes_on_anywhere(s);
        }
    }
}

struct text {
    std::string name;
    sequence words;
};

BOOST_AUTO_TEST_CASE(lengths_and_fields) {
    const std::vector<text> all{{"a", {1, 2, 3}}, {"b", {4, 5, 6, 7, 8}}};
    const auto words = [](const text& t) -> const sequence& { return t.words; };
    BOOST_CHECK_EXCEPTION(elements_of(data::rows(all) | data::pack<4>(words)), data_error, [](const data_error& e) {
        return e.where() == "pack" && e.got() == "5 tokens" && e.needed() == "at most 4, or .split or .truncate";
    });
    BOOST_TEST((rows_of(elements_of(data::rows(all) | data::pack<4>(words, {.truncate = true}))) ==
                std::vector<sequences>{{{1, 2, 3}}, {{4, 5, 6, 7}}}));
    BOOST_TEST((rows_of(elements_of(data::rows(all) | data::pack<5>([](const text& t) { return t.words; }))) ==
                std::vector<sequences>{{{1, 2, 3}}, {{4, 5, 6, 7, 8}}}));
    BOOST_CHECK_THROW(data::pack<4>({.window = 0}), option_error);
    BOOST_CHECK_THROW(data::pack<4>({.split = true, .truncate = true}), option_error);
}

BOOST_AUTO_TEST_CASE(padded) {
    const std::vector<text> all{{"a", {1, 2, 3}}, {"b", {}}, {"c", {4, 5, 6, 7, 8}}};
    const auto words = [](const text& t) -> const sequence& { return t.words; };
    const auto s = data::rows(all) | data::pad_to<5>(words, -1);
    using stage = std::remove_const_t<decltype(s)>;
    static_assert(data::indexed_stage<stage>);
    BOOST_TEST(s.size() == 3);
    const auto rows = elements_of(s);
    BOOST_TEST((rows[0].values == std::array<std::int32_t, 5>{1, 2, 3, -1, -1}));
    BOOST_TEST((rows[1].values == std::array<std::int32_t, 5>{-1, -1, -1, -1, -1}));
    BOOST_TEST((rows[2].values == std::array<std::int32_t, 5>{4, 5, 6, 7, 8}));
    BOOST_TEST((rows[0].length == 3 && rows[1].length == 0 && rows[2].length == 5));
    goes_on_anywhere(s);
    goes_on_anywhere(data::rows(drawn(2, 30, 6)) | data::filter([](const sequence& v) { return v.size() != 2; }) |
                     data::pad_to<6>());
    BOOST_TEST((elements_of(data::rows(all) | data::pad_to<2>(words, 0, {.truncate = true}))[2].values ==
                std::array<std::int32_t, 2>{4, 5}));
    BOOST_CHECK_EXCEPTION(elements_of(data::rows(all) | data::pad_to<4>(words, 0)), data_error, [](const auto& e) {
        return e.got() == "5 values" && e.needed() == "at most 4, or .truncate";
    });
    // In maps, of anything.
    const std::vector<std::string> names{"ab", "c"};
    BOOST_TEST((data::padded<3>(names, {.value = "-"}).values == std::array<std::string, 3>{"ab", "c", "-"}));
    BOOST_TEST((data::padded<1>(names, {.truncate = true}).values == std::array<std::string, 1>{"ab"}));
    // What a batch has columns for.
    static_assert(data::element_fields<data::packed_row<4>> == 3);
    static_assert(data::element_fields<data::padded_row<float, 4>> == 2);
    static_assert(data::fields_of_element<data::packed_row<4>>[1].name == "segments");
}

} // namespace pack_test
