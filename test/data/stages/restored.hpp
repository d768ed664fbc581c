// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "data/stages/reading.hpp"

/// Stages whose cursors are more than a number.
namespace stage_test {

/// Up to `most` elements of a pass.
template <class Stages>
std::vector<typename Stages::value_type> elements_of(const Stages& s, std::int64_t pass = 0,
                                                     std::size_t most = 100'000) {
    return reading::rest(s, pass, {}, most);
}

/// What was read in order is also found from each place on, and by readers that jump between places and passes.
template <class Stages>
void goes_on_anywhere(const Stages& s, std::int64_t pass = 0) {
    reading::check(s, pass, elements_of(s, pass), s.size());
}

} // namespace stage_test
