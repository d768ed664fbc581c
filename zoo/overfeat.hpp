// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/input.hpp>

namespace sinter::zoo {

/// OverFeat's fast model, [Extent, Extent, 3] -> [Classes]: Sermanet, Eigen, Zhang, Mathieu, Fergus
/// and LeCun 2013, table 1. Width is the first layer's; the paper's is 96.
template <int Extent = 231, int Classes = 1000, int Width = 96, int Hidden = 3072>
inline constexpr auto overfeat_fast =
    image<Extent, Extent, 3>                                                                      // layer, at 231:
    >> conv2d<Width, 11, window{.stride = 4, .padding = padding::valid}> >> relu >> max_pool<2>   // 1   28 x 28 x   96
    >> conv2d<Width * 8 / 3, 5, window{.padding = padding::valid}> >> relu >> max_pool<2>         // 2   12 x 12 x  256
    >> conv2d<Width * 16 / 3, 3> >> relu                                                          // 3   12 x 12 x  512
    >> conv2d<Width * 32 / 3, 3> >> relu                                                          // 4   12 x 12 x 1024
    >> conv2d<Width * 32 / 3, 3> >> relu >> max_pool<2>                                           // 5    6 x  6 x 1024
    >> flatten >> dropout<0.5> >> dense<Hidden> >> relu                                           // 6
    >> dropout<0.5> >> dense<Hidden * 4 / 3> >> relu                                              // 7
    >> dense<Classes>;                                                                            // 8

} // namespace sinter::zoo
