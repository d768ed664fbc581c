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

/// AlexNet in one column, [Extent, Extent, 3] -> [Classes]: Krizhevsky 2014 ("One weird trick for
/// parallelizing convolutional neural networks"), the form that benchmarks and torchvision have.
/// The net of Krizhevsky, Sutskever and Hinton 2012 had two columns, one for each of the two GPUs
/// that it took then, which saw each other's maps in its third layer alone, 96-256-384-384-256 maps
/// in both together, and response normalisation. One column needs none of that. Width is the first
/// layer's; here it is torchvision's.
template <int Extent = 224, int Classes = 1000, int Width = 64, int Hidden = 4096>
inline constexpr auto alexnet = image<Extent, Extent, 3>             // at 224:
    >> conv2d<Width, 11, window{.stride = 4, .padding = 2}> >> relu  // 55 x 55 x 64
    >> max_pool<3, window{.stride = 2, .padding = padding::valid}>   // 27 x 27
    >> conv2d<3 * Width, 5> >> relu                                  // 27 x 27 x 192
    >> max_pool<3, window{.stride = 2, .padding = padding::valid}>   // 13 x 13
    >> conv2d<6 * Width, 3> >> relu                                  // 13 x 13 x 384
    >> conv2d<4 * Width, 3> >> relu                                  // 13 x 13 x 256
    >> conv2d<4 * Width, 3> >> relu                                  // 13 x 13 x 256
    >> max_pool<3, window{.stride = 2, .padding = padding::valid}>   //  6 x  6
    >> flatten
    >> dropout<0.5> >> dense<Hidden> >> relu
    >> dropout<0.5> >> dense<Hidden> >> relu
    >> dense<Classes>;

} // namespace sinter::zoo
