// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/gru.hpp>
#include <sinter/expr/input.hpp>

namespace sinter::zoo {

namespace gru_speech_parts {
template <int Units, int Layers>
struct stack {
    static constexpr auto of = stack<Units, Layers - 1>::of >> gru<Units>;
};
template <int Units>
struct stack<Units, 1> {
    static constexpr auto of = gru<Units>;
};
} // namespace gru_speech_parts

/// Five GRUs of 3000 units on top of each other over 100 steps, [Steps, Units] -> [Steps, Units]:
/// the recurrent part of Baidu's speech recognizers (Amodei et al. 2015 has stacks of one to seven)
/// in the size in which it is benchmarked, by what their weights alone need: each layer is one
/// matrix of 6000 x 9000, a gigabyte of floats in all. In front of it stand a recognizer's
/// convolutions, behind it the scores of its letters: `gru_speech<> >> dense<29>`.
template <int Units = 3000, int Steps = 100, int Layers = 5>
inline constexpr auto gru_speech = array<Steps, Units> >> gru_speech_parts::stack<Units, Layers>::of;

} // namespace sinter::zoo
