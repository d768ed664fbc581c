// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <sinter/data/stages/stage.hpp>
#include <utility>
#include <vector>

/// All elements of a pass, each as `show` says, from a cursor on, of a state that may stand anywhere.
template <class S, class Show>
auto rest_of_pass(const S& stages, typename S::state& s, sinter::data::stage_parts::cursor_of<S> c, Show show) {
    std::vector<decltype(show(std::declval<const typename S::value_type&>()))> all;
    for (sinter::data::stage_parts::ticket_of<S> k{}; sinter::data::stage_parts::next(stages, s, c, k);)
        all.push_back(show(stages.get(s, k)));
    return all;
}

/// The elements of a pass, after a look at what a stage promises: from the cursor behind each of them a new state, one
/// that stands elsewhere, one that has gone through the end and one that comes from another pass give the same rest;
/// and elements that were taken before are computed by another state, in another order.
template <class S, class Show>
auto elements_from_everywhere(const S& stages, Show show, std::int64_t pass = 0) {
    using namespace sinter::data;
    typename S::state reader{}, other{}, computing{};
    for (typename S::state* s : {&reader, &other, &computing}) stages.begin(*s, pass);
    stage_parts::cursor_of<S> at{};
    std::vector<stage_parts::cursor_of<S>> cursors{at};
    std::vector<stage_parts::ticket_of<S>> tickets(1);
    while (stage_parts::next(stages, reader, at, tickets.back())) {
        cursors.push_back(at);
        tickets.emplace_back();
    }
    const auto all = rest_of_pass(stages, other, {}, show);
    BOOST_TEST_REQUIRE(all.size() == tickets.size() - 1);
    for (std::size_t i = all.size(); i-- > 0;) BOOST_TEST((show(stages.get(computing, tickets[i])) == all[i]));
    for (std::size_t i = cursors.size(); i-- > 0;) {
        const std::vector rest(all.begin() + static_cast<std::ptrdiff_t>(i), all.end());
        typename S::state fresh{};
        stages.begin(fresh, pass);
        BOOST_TEST((rest_of_pass(stages, fresh, cursors[i], show) == rest));
        auto second = cursors[i];   // a state that has read from there, and goes back
        stage_parts::ticket_of<S> k{};
        stage_parts::next(stages, other, second, k);
        BOOST_TEST((rest_of_pass(stages, other, cursors[i], show) == rest));
        for (std::size_t n = 0; n < 2 && stage_parts::next(stages, other, second, k); ++n) stages.get(other, k);
        stages.begin(other, pass + 1);   // and one that was in another pass meanwhile
        stage_parts::cursor_of<S> there{};
        for (std::size_t n = 0; n < i && stage_parts::next(stages, other, there, k); ++n) stages.get(other, k);
        stages.begin(other, pass);
    }
    for (std::size_t i = 0; i < all.size(); ++i)   // two readers that have one state
        for (const std::size_t place : {i, all.size() - 1 - i}) {
            auto there = cursors[place];
            BOOST_TEST_REQUIRE(stage_parts::next(stages, other, there, tickets.back()));
            BOOST_TEST((show(stages.get(other, tickets.back())) == all[place]));
        }
    return all;
}
