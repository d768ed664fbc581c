// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/convolution.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/name.hpp>

namespace sinter::zoo {

namespace mobilenet_parts {
/// A 3 x 3 filter for each channel by itself, then one of single pixels over all channels (figure
/// 3).
template <int Filters, int Stride = 1>
inline constexpr auto separable = depthwise_conv2d<3, window{.stride = Stride}, 1, bias::no> >> batch_norm >> relu
    >> conv2d<Filters, 1, window{}, bias::no> >> batch_norm >> relu;
} // namespace mobilenet_parts

/// MobileNet, [Extent, Extent, 3] -> [Classes]: table 1 of Howard et al. 2017 ("MobileNets:
/// efficient convolutional neural networks for mobile vision applications"). Width is the first
/// layer's: 24, 16 and 8 are the paper's multipliers 0.75, 0.5 and 0.25. The last filter has stride
/// 1, as its results' extents (7 x 7) ask for; the table says 2.
template <int Extent = 224, int Classes = 1000, int Width = 32>
inline constexpr auto mobilenet = image<Extent, Extent, 3>                                     // at 224:
    >> named<"stem">(conv2d<Width, 3, window{.stride = 2}, bias::no> >> batch_norm >> relu)    // 112 x 112 x 32
    >> named<"block1">(mobilenet_parts::separable<2 * Width>)                                  // 112 x 112 x 64
    >> named<"block2">(mobilenet_parts::separable<4 * Width, 2>)                               //  56 x  56 x 128
    >> named<"block3">(mobilenet_parts::separable<4 * Width>)
    >> named<"block4">(mobilenet_parts::separable<8 * Width, 2>)                               //  28 x  28 x 256
    >> named<"block5">(mobilenet_parts::separable<8 * Width>)
    >> named<"block6">(mobilenet_parts::separable<16 * Width, 2>)                              //  14 x  14 x 512
    >> named<"block7">(mobilenet_parts::separable<16 * Width>)
    >> named<"block8">(mobilenet_parts::separable<16 * Width>)
    >> named<"block9">(mobilenet_parts::separable<16 * Width>)
    >> named<"block10">(mobilenet_parts::separable<16 * Width>)
    >> named<"block11">(mobilenet_parts::separable<16 * Width>)
    >> named<"block12">(mobilenet_parts::separable<32 * Width, 2>)                             //   7 x   7 x 1024
    >> named<"block13">(mobilenet_parts::separable<32 * Width>)
    >> global_avg_pool >> dense<Classes>;

} // namespace sinter::zoo
