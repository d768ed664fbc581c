// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/input.hpp>

/// Simonyan and Zisserman 2014 ("Very deep convolutional networks for large-scale image
/// recognition"), table 1, columns A (VGG-11) and D (VGG-16): [Extent, Extent, 3] -> [Classes].
/// Width is the first layer's, Hidden that of the two dense ones.
namespace sinter::zoo {

namespace vgg {
template <int Filters>
inline constexpr auto conv3 = conv2d<Filters, 3> >> relu;
template <int Classes, int Hidden>
inline constexpr auto classifier = flatten
    >> dense<Hidden> >> relu >> dropout<0.5>
    >> dense<Hidden> >> relu >> dropout<0.5>
    >> dense<Classes>;
} // namespace vgg

template <int Extent = 224, int Classes = 1000, int Width = 64, int Hidden = 4096>
inline constexpr auto vgg_a = image<Extent, Extent, 3>
    >> vgg::conv3<Width> >> max_pool<2>
    >> vgg::conv3<2 * Width> >> max_pool<2>
    >> vgg::conv3<4 * Width> >> vgg::conv3<4 * Width> >> max_pool<2>
    >> vgg::conv3<8 * Width> >> vgg::conv3<8 * Width> >> max_pool<2>
    >> vgg::conv3<8 * Width> >> vgg::conv3<8 * Width> >> max_pool<2>
    >> vgg::classifier<Classes, Hidden>;

template <int Extent = 224, int Classes = 1000, int Width = 64, int Hidden = 4096>
inline constexpr auto vgg_d = image<Extent, Extent, 3>
    >> vgg::conv3<Width> >> vgg::conv3<Width> >> max_pool<2>
    >> vgg::conv3<2 * Width> >> vgg::conv3<2 * Width> >> max_pool<2>
    >> vgg::conv3<4 * Width> >> vgg::conv3<4 * Width> >> vgg::conv3<4 * Width> >> max_pool<2>
    >> vgg::conv3<8 * Width> >> vgg::conv3<8 * Width> >> vgg::conv3<8 * Width> >> max_pool<2>
    >> vgg::conv3<8 * Width> >> vgg::conv3<8 * Width> >> vgg::conv3<8 * Width> >> max_pool<2>
    >> vgg::classifier<Classes, Hidden>;

} // namespace sinter::zoo
