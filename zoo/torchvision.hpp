// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/input.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/ops/permute.hpp>

/// Nets exactly as torchvision.models has them (version 0.20), to take its trained weights over:
/// padding is symmetric, batch norms have PyTorch's epsilon and momentum, images are flattened with
/// channels first, and layers are called as there, so that a state_dict needs no rules:
///
///     torch: save_file(torchvision.models.resnet18(weights="DEFAULT").state_dict(), "resnet18.safetensors")
///     here:  model.load_weights("resnet18.safetensors", {.from = framework::pytorch});
///
/// [224, 224, 3] -> [Classes]. Images are scaled as there: (x / 255 - mean) / deviation with mean
/// 0.485, 0.456, 0.406 and deviation 0.229, 0.224, 0.225 of red, green and blue.
namespace sinter::zoo::torchvision {

namespace detail {
template <int Filters, int K, int Stride = 1, int Padding = K / 2, bias Bias = bias::no>
inline constexpr auto conv = conv2d<Filters, K, window{.stride = Stride, .padding = padding(Padding)}, Bias>;
inline constexpr auto& norm = batch_norm_with<0.9, 1e-5>;   // its momentum of 0.1 is what a step adds

/// What passes by a block: projected where extents change.
template <int Filters, int Stride, bool Projected>
constexpr tensor shortcut(tensor x) {
    if constexpr (Projected) return named<"downsample">(named<"0">(conv<Filters, 1, Stride>) >> named<"1">(norm))(x);
    else return x;
}
template <int Filters, int Stride, bool Projected>
inline constexpr auto basic = [](tensor x) {
    const tensor y = relu(named<"bn1">(norm)(named<"conv1">(conv<Filters, 3, Stride>)(x)));
    return relu(named<"bn2">(norm)(named<"conv2">(conv<Filters, 3>)(y)) + shortcut<Filters, Stride, Projected>(x));
};
template <int Filters, int Stride, bool Projected>
inline constexpr auto bottleneck = [](tensor x) {
    const tensor y = relu(named<"bn1">(norm)(named<"conv1">(conv<Filters, 1>)(x))),
                 z = relu(named<"bn2">(norm)(named<"conv2">(conv<Filters, 3, Stride>)(y)));
    return relu(named<"bn3">(norm)(named<"conv3">(conv<4 * Filters, 1>)(z)) +
                shortcut<4 * Filters, Stride, Projected>(x));
};

template <int Extent, int Width>
inline constexpr auto stem = image<Extent, Extent, 3> >> named<"conv1">(conv<Width, 7, 2>) >> named<"bn1">(norm) >> relu
    >> max_pool<3, window{.stride = 2, .padding = padding(1)}>;
/// The first block of a stage, and one more of it.
template <int Filters, int Stride, bool Projected>
inline constexpr auto two = named<"0">(basic<Filters, Stride, Projected>) >> named<"1">(basic<Filters, 1, false>);
template <int Filters, int Stride>
inline constexpr auto three =
    named<"0">(bottleneck<Filters, Stride, true>) >> named<"1">(bottleneck<Filters, 1, false>)
    >> named<"2">(bottleneck<Filters, 1, false>);
template <int Filters>
inline constexpr auto more = bottleneck<Filters, 1, false>;

inline constexpr auto flatten_channels_first = [](tensor x) { return flatten(ops::permute(x, {2, 0, 1})); };
template <int Filters>
inline constexpr auto conv3 = conv<Filters, 3, 1, 1, bias::yes>;
} // namespace detail

template <int Classes = 1000, int Extent = 224, int Width = 64>
inline constexpr auto resnet18 = detail::stem<Extent, Width>
    >> named<"layer1">(detail::two<Width, 1, false>) >> named<"layer2">(detail::two<2 * Width, 2, true>)
    >> named<"layer3">(detail::two<4 * Width, 2, true>) >> named<"layer4">(detail::two<8 * Width, 2, true>)
    >> global_avg_pool >> named<"fc">(dense<Classes>);

template <int Classes = 1000, int Extent = 224, int Width = 64>
inline constexpr auto resnet50 = detail::stem<Extent, Width>
    >> named<"layer1">(detail::three<Width, 1>)
    >> named<"layer2">(detail::three<2 * Width, 2> >> named<"3">(detail::more<2 * Width>))
    >> named<"layer3">(detail::three<4 * Width, 2> >> named<"3">(detail::more<4 * Width>)
                       >> named<"4">(detail::more<4 * Width>) >> named<"5">(detail::more<4 * Width>))
    >> named<"layer4">(detail::three<8 * Width, 2>)
    >> global_avg_pool >> named<"fc">(dense<Classes>);

/// Configuration "D", without batch norms. Extent must be a multiple of 32; torchvision pools
/// adaptively to 7 x 7 before the classifier, which at 224 does nothing: other extents are not the
/// same net.
template <int Classes = 1000, int Extent = 224, int Width = 64, int Hidden = 4096>
inline constexpr auto vgg16 = image<Extent, Extent, 3>
    >> named<"features">(
           named<"0">(detail::conv3<Width>) >> relu >> named<"2">(detail::conv3<Width>) >> relu >> max_pool<2>
           >> named<"5">(detail::conv3<2 * Width>) >> relu >> named<"7">(detail::conv3<2 * Width>) >> relu
           >> max_pool<2> >> named<"10">(detail::conv3<4 * Width>) >> relu >> named<"12">(detail::conv3<4 * Width>)
           >> relu >> named<"14">(detail::conv3<4 * Width>) >> relu >> max_pool<2>
           >> named<"17">(detail::conv3<8 * Width>) >> relu >> named<"19">(detail::conv3<8 * Width>) >> relu
           >> named<"21">(detail::conv3<8 * Width>) >> relu >> max_pool<2> >> named<"24">(detail::conv3<8 * Width>)
           >> relu >> named<"26">(detail::conv3<8 * Width>) >> relu >> named<"28">(detail::conv3<8 * Width>) >> relu
           >> max_pool<2>)
    >> detail::flatten_channels_first
    >> named<"classifier">(named<"0">(dense<Hidden>) >> relu >> dropout<0.5> >> named<"3">(dense<Hidden>) >> relu
                           >> dropout<0.5> >> named<"6">(dense<Classes>));

/// "One weird trick", 2014, as torchvision has it. Extent 224, as above.
template <int Classes = 1000, int Width = 64, int Hidden = 4096>
inline constexpr auto alexnet = image<224, 224, 3>
    >> named<"features">(
           named<"0">(detail::conv<Width, 11, 4, 2, bias::yes>) >> relu
           >> max_pool<3, window{.stride = 2, .padding = padding::valid}>
           >> named<"3">(detail::conv<3 * Width, 5, 1, 2, bias::yes>) >> relu
           >> max_pool<3, window{.stride = 2, .padding = padding::valid}>
           >> named<"6">(detail::conv3<6 * Width>) >> relu >> named<"8">(detail::conv3<4 * Width>) >> relu
           >> named<"10">(detail::conv3<4 * Width>) >> relu
           >> max_pool<3, window{.stride = 2, .padding = padding::valid}>)
    >> detail::flatten_channels_first
    >> named<"classifier">(dropout<0.5> >> named<"1">(dense<Hidden>) >> relu >> dropout<0.5>
                           >> named<"4">(dense<Hidden>) >> relu >> named<"6">(dense<Classes>));

} // namespace sinter::zoo::torchvision
