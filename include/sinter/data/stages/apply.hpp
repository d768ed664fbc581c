// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

template <class F>
struct apply_step {
    F function;
};
/// A part of a pipeline as a function: `stages | data::apply(f)` is `f(stages)`.
///
///     const auto augmented = [](auto stages) { return std::move(stages) | data::map(turn) | data::map(crop); };
///     auto train = data::rows(pictures) | data::apply(augmented) | data::shuffle() | data::batch(64);
template <class F>
apply_step<F> apply(F f) {
    return {std::move(f)};
}

template <element_stage Up, class F>
auto operator|(Up up, apply_step<F> s) {
    constexpr bool fits = std::is_invocable_v<F, Up>;
    static_assert(fits, "apply: needed is a function that takes a pipeline of these elements");
    if constexpr (fits) return std::move(s.function)(std::move(up));
    else return refused_stage{};
}

} // namespace sinter::data
