// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/input.hpp>

namespace sinter::zoo {

/// mlp<10, 128>: 28 x 28 pixels, hidden layers of these widths, classes: the two- and three-layer
/// nets of LeCun, Bottou, Bengio and Haffner 1998 (section III.C, "28x28-300-10",
/// "28x28-300-100-10"), whose hidden units had tanh where these have relu.
template <int Classes, int... Hidden>
inline constexpr auto mlp = ((image<28, 28, 1> >> flatten) >> ... >> (dense<Hidden> >> relu)) >> dense<Classes>;

} // namespace sinter::zoo
