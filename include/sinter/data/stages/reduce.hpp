// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/elements.hpp>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {
/// option_error where a pass is endless.
SINTER_SELDOM SINTER_COLD void need_an_end(std::int64_t size, std::string_view where);
#if SINTER_BODIES
SINTER_SELDOM_BODY void need_an_end(std::int64_t size, std::string_view where) {
    if (size == endless) throw option_error("a pass without end", where, {}, "take(n) before it");
}
#endif
} // namespace stage_parts

/// All elements of one pass put together, computed by the caller's thread: from `initial` on, `f(state, element)` gives
/// the next state. option_error where a pass is known to have no end.
///
///     const float sum = data::reduce(stages, 0.f, [](float s, const sample& e) { return s + e.x[0]; });
template <element_stage Stages, class S, class F>
S reduce(Stages stages, S initial, F f, std::int64_t pass = 0) {
    constexpr bool fits = std::is_invocable_r_v<S, F&, S, const typename Stages::value_type&>;
    static_assert(fits, "reduce: needed is a function of the state and an element of this pipeline that gives the next "
                        "state");
    if constexpr (fits) {
        stage_parts::need_an_end(stages.size(), "reduce");
        for (const typename Stages::value_type& e : elements(std::move(stages), pass))
            initial = f(std::move(initial), e);
    }
    return initial;
}

} // namespace sinter::data
