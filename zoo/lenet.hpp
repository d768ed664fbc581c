// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/input.hpp>

namespace sinter::zoo {

/// LeNet-5 (LeCun, Bottou, Bengio and Haffner 1998, figure 2), [28, 28, 1] -> [Classes]. The paper
/// pads the images to 32 x 32 by hand, here C1 does. It differs where everybody's does today: relu
/// instead of a scaled tanh; pools take the largest and learn nothing; each map of C3 sees all of
/// S2 (in the paper's table I only some, for the machines of the time); and the classes' scores are
/// a dense layer, not distances from drawn characters. That makes 61,706 parameters; the paper has
/// 60,000 that are trained.
template <int Classes = 10>
inline constexpr auto lenet = image<28, 28, 1>
    >> conv2d<6, 5> >> relu                                          // C1   28 x 28 x 6
    >> max_pool<2>                                                   // S2   14 x 14 x 6
    >> conv2d<16, 5, window{.padding = padding::valid}> >> relu      // C3   10 x 10 x 16
    >> max_pool<2>                                                   // S4    5 x  5 x 16
    >> flatten
    >> dense<120> >> relu                                            // C5
    >> dense<84> >> relu                                             // F6
    >> dense<Classes>;

} // namespace sinter::zoo
