// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/unbatch.hpp>
#include <sinter/data/stages/window.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

struct rebatch_options {
    bool drop_remainder = false;   ///< leave out a last list that is not full
};
struct rebatch_step {
    window_step window;
};

/// Lists, such as window() gives, as lists of `n`: the same elements in the same order. It is unbatch() and window(n):
/// what they say of memory and of going on holds. option_error unless n is 1 or more.
SINTER_SELDOM rebatch_step rebatch(std::int64_t n, rebatch_options o = {});

#if SINTER_BODIES
SINTER_SELDOM_BODY rebatch_step rebatch(std::int64_t n, rebatch_options o) {
    stage_parts::at_least(1, n, "impossible number of elements", "rebatch", "1 or more");
    return {window(n, {.drop_remainder = o.drop_remainder})};
}
#endif

template <element_stage Up>
auto operator|(Up up, rebatch_step s) {
    constexpr bool fits = stage_parts::is_list<typename Up::value_type>;
    static_assert(fits, "rebatch: needed are elements that are a std::vector or a std::array");
    if constexpr (fits) return std::move(up) | unbatch() | s.window;
    else return refused_stage{};
}

} // namespace sinter::data
