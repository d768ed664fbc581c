// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <sinter/data/stages/stage.hpp>
#include <vector>

/// What must hold of any stage: read as its reader does, and gone on with from each of its cursors.
namespace stage_test {

using namespace sinter;

/// Up to `most` elements of a pass. Values are computed with the state of another thread.
template <data::element_stage S>
std::vector<typename S::value_type> elements_of(const S& s, std::int64_t pass = 0, std::size_t most = 10'000) {
    std::vector<typename S::value_type> all;
    typename S::state reader{}, computes{};
    s.begin(reader, pass);
    s.begin(computes, pass);
    data::stage_parts::cursor_of<S> c{};
    data::stage_parts::ticket_of<S> k{};
    while (all.size() < most && data::stage_parts::next(s, reader, c, k)) all.push_back(s.get(computes, k));
    return all;
}

/// From each position of a pass the rest is the same: with a new state, with the one that stands at the end, and with
/// one that goes back and forth between two positions.
template <data::element_stage S>
void goes_on_anywhere(const S& s, std::int64_t pass = 0, std::size_t most = 10'000) {
    using cursor = data::stage_parts::cursor_of<S>;
    const auto all = elements_of(s, pass, most);
    typename S::state reader{}, computes{}, jumps{};
    for (auto* t : {&reader, &computes, &jumps}) s.begin(*t, pass);
    std::vector<cursor> at{cursor{}};
    cursor c{};
    data::stage_parts::ticket_of<S> k{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        BOOST_REQUIRE(data::stage_parts::next(s, reader, c, k));
        BOOST_REQUIRE(typename S::value_type(s.get(computes, k)) == all[i]);
        at.push_back(c);
    }
    if (all.size() < most)
        for (int twice = 0; twice < 2; ++twice) BOOST_REQUIRE(!data::stage_parts::next(s, reader, c, k));
    const auto rest_is_the_same = [&](typename S::state& t, std::size_t i, std::size_t n) {
        cursor from = at[i];
        for (std::size_t j = i; j < all.size() && j < i + n; ++j) {
            BOOST_REQUIRE(data::stage_parts::next(s, t, from, k));
            BOOST_REQUIRE(typename S::value_type(s.get(computes, k)) == all[j]);
        }
        if (i + n >= all.size() && all.size() < most) BOOST_REQUIRE(!data::stage_parts::next(s, t, from, k));
    };
    for (std::size_t i = 0; i <= all.size(); ++i) {
        typename S::state fresh{};
        s.begin(fresh, pass);
        rest_is_the_same(fresh, i, all.size());
        rest_is_the_same(reader, i, 3);
        rest_is_the_same(jumps, i * 7 % (all.size() + 1), 2);
        rest_is_the_same(jumps, i, 2);
    }
    s.begin(reader, pass + 1);   // and again, after another pass
    c = {};
    for (int i = 0; i < 3; ++i) static_cast<void>(data::stage_parts::next(s, reader, c, k));
    s.begin(reader, pass);
    rest_is_the_same(reader, all.size() / 2, all.size());
}

} // namespace stage_test
