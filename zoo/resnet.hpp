// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/expr/name.hpp>

/// He, Zhang, Ren and Sun 2016 ("Deep residual learning for image recognition"), table 1, columns
/// of 18, 34 and 50 layers: [Extent, Extent, 3] -> [Classes]. Shortcuts are the paper's option B:
/// what passes by a block is projected where extents change, and else left alone. The stride of a
/// bottleneck is in its 3x3 convolution, as in torchvision's (the paper has it in the first 1x1),
/// and padding follows TensorFlow's rule. Width is the first stage's; the paper's is 64.
namespace sinter::zoo {

namespace resnet {

inline constexpr window by_one{}, by_two{.stride = 2};

template <int Filters, int K, window O = by_one>
constexpr tensor normed(tensor x) {
    return batch_norm(conv2d<Filters, K, O, bias::no>(x));
}

/// Two convolutions beside which the input passes; `first`: of a stage that halves the image.
template <int Filters, window O = by_one>
constexpr tensor basic_branch(tensor x) {
    return normed<Filters, 3>(relu(normed<Filters, 3, O>(x)));
}
template <int Filters>
inline constexpr auto basic = [](tensor x) { return relu(x + basic_branch<Filters>(x)); };
template <int Filters>
inline constexpr auto first_basic = [](tensor x) {
    return relu(normed<Filters, 1, by_two>(x) + basic_branch<Filters, by_two>(x));
};

/// Three, of which the middle one works on fewer channels.
template <int Filters, window O = by_one>
constexpr tensor bottleneck_branch(tensor x) {
    return normed<4 * Filters, 1>(relu(normed<Filters, 3, O>(relu(normed<Filters, 1>(x)))));
}
template <int Filters>
inline constexpr auto bottleneck = [](tensor x) { return relu(x + bottleneck_branch<Filters>(x)); };
template <int Filters, window O>
inline constexpr auto first_bottleneck = [](tensor x) {
    return relu(normed<4 * Filters, 1, O>(x) + bottleneck_branch<Filters, O>(x));
};

template <int Extent, int Width>
inline constexpr auto stem = image<Extent, Extent, 3>
    >> named<"stem">(conv2d<Width, 7, by_two, bias::no> >> batch_norm >> relu >> max_pool<3, by_two>);
template <int Classes>
inline constexpr auto head = global_avg_pool >> dense<Classes>;

} // namespace resnet

template <int Extent = 224, int Classes = 1000, int Width = 64>
inline constexpr auto resnet18 = resnet::stem<Extent, Width>
    >> named<"conv2_1">(resnet::basic<Width>) >> named<"conv2_2">(resnet::basic<Width>)
    >> named<"conv3_1">(resnet::first_basic<2 * Width>) >> named<"conv3_2">(resnet::basic<2 * Width>)
    >> named<"conv4_1">(resnet::first_basic<4 * Width>) >> named<"conv4_2">(resnet::basic<4 * Width>)
    >> named<"conv5_1">(resnet::first_basic<8 * Width>) >> named<"conv5_2">(resnet::basic<8 * Width>)
    >> resnet::head<Classes>;

template <int Extent = 224, int Classes = 1000, int Width = 64>
inline constexpr auto resnet34 =
    resnet::stem<Extent, Width> >> named<"conv2_1">(resnet::basic<Width>) >> named<"conv2_2">(resnet::basic<Width>) >>
    named<"conv2_3">(resnet::basic<Width>) >> named<"conv3_1">(resnet::first_basic<2 * Width>) >>
    named<"conv3_2">(resnet::basic<2 * Width>) >> named<"conv3_3">(resnet::basic<2 * Width>) >>
    named<"conv3_4">(resnet::basic<2 * Width>) >> named<"conv4_1">(resnet::first_basic<4 * Width>) >>
    named<"conv4_2">(resnet::basic<4 * Width>) >> named<"conv4_3">(resnet::basic<4 * Width>) >>
    named<"conv4_4">(resnet::basic<4 * Width>) >> named<"conv4_5">(resnet::basic<4 * Width>) >>
    named<"conv4_6">(resnet::basic<4 * Width>) >> named<"conv5_1">(resnet::first_basic<8 * Width>) >>
    named<"conv5_2">(resnet::basic<8 * Width>) >> named<"conv5_3">(resnet::basic<8 * Width>) >> resnet::head<Classes>;

template <int Extent = 224, int Classes = 1000, int Width = 64>
inline constexpr auto resnet50 =
    resnet::stem<Extent, Width> >> named<"conv2_1">(resnet::first_bottleneck<Width, resnet::by_one>) >>
    named<"conv2_2">(resnet::bottleneck<Width>) >> named<"conv2_3">(resnet::bottleneck<Width>) >>
    named<"conv3_1">(resnet::first_bottleneck<2 * Width, resnet::by_two>) >> named<"conv3_2">(
                                                                                 resnet::bottleneck<2 * Width>) >>
    named<"conv3_3">(resnet::bottleneck<2 * Width>) >> named<"conv3_4">(resnet::bottleneck<2 * Width>) >>
    named<"conv4_1">(resnet::first_bottleneck<4 * Width, resnet::by_two>) >> named<"conv4_2">(
                                                                                 resnet::bottleneck<4 * Width>) >>
    named<"conv4_3">(resnet::bottleneck<4 * Width>) >> named<"conv4_4">(resnet::bottleneck<4 * Width>) >>
    named<"conv4_5">(resnet::bottleneck<4 * Width>) >> named<"conv4_6">(resnet::bottleneck<4 * Width>) >>
    named<"conv5_1">(resnet::first_bottleneck<8 * Width, resnet::by_two>) >> named<"conv5_2">(
                                                                                 resnet::bottleneck<8 * Width>) >>
    named<"conv5_3">(resnet::bottleneck<8 * Width>) >> resnet::head<Classes>;

} // namespace sinter::zoo
