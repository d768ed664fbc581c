// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/flat_map.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

struct unbatch_step {};

/// Elements that are a std::vector or a std::array become their elements, one after the other. Arrays whose elements
/// can be found by their number stay so.
constexpr unbatch_step unbatch() { return {}; }

template <element_stage Up>
auto operator|(Up up, unbatch_step) {
    constexpr bool fits = stage_parts::is_list<typename Up::value_type>;
    static_assert(fits, "unbatch: needed are elements that are a std::vector or a std::array");
    if constexpr (fits) return flattened_stage<Up, stage_parts::the_element_itself>(std::move(up), {});
    else return refused_stage{};
}

} // namespace sinter::data
