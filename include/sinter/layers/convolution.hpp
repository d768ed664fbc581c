// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/conv2d.hpp>
#include <sinter/ops/conv1d.hpp>
#include <sinter/ops/conv3d.hpp>
#include <sinter/ops/convolution_transpose.hpp>
#include <sinter/ops/separable_conv2d.hpp>

/// Convolutions beside conv2d. Parameters have Keras' names and extents; padding is `same` unless
/// told otherwise.
namespace sinter::inline SINTER_TARGET {

/// conv1d<Filters, K, window{...}>: [T, C] -> [T', Filters]; padding::causal hides what comes
/// later. Keras' Conv1D.
template <int Filters, per_axis K, window O = window{}, bias B = bias::yes>
struct conv1d_layer : layer<conv1d_layer<Filters, K, O, B>> {
    static constexpr const char* name = "conv1d";
    static constexpr tensor trace(tensor x) {
        if (!detail::can_convolve(x, op::conv, K, O, 1, Filters)) return {x.g, -1};
        const sliding h(x.shape().d[0], K.d[2], O, 2);
        const shape k = detail::kernel_extents_of(K, 1, x.shape().d[1] / O.groups, Filters);
        const tensor w = detail::convolution_kernel(x, "kernel", k, ops::is_dense(ops::still(h.stride), h, O.groups));
        return detail::with_bias<B>(ops::conv1d(x, w, O), Filters);
    }
};
/// conv3d<Filters, K, window{...}>: [D, H, W, C] -> [OD, OH, OW, Filters]. Keras' Conv3D.
template <int Filters, per_axis K, window O = window{}, bias B = bias::yes>
struct conv3d_layer : layer<conv3d_layer<Filters, K, O, B>> {
    static constexpr const char* name = "conv3d";
    static constexpr tensor trace(tensor x) {
        if (!detail::can_convolve(x, op::convolution, K, O, 3, Filters)) return {x.g, -1};
        const shape k = detail::kernel_extents_of(K, 3, x.shape().d[3] / O.groups, Filters);
        return detail::with_bias<B>(ops::conv3d(x, detail::convolution_kernel(x, "kernel", k, false), O), Filters);
    }
};
/// depthwise_conv2d<K, window{...}, M>: [H, W, C] -> [OH, OW, C M], each channel apart. Parameters
/// kernel [K, K, C, M], bias [C M]. Keras' DepthwiseConv2D.
template <per_axis K, window O = window{}, int Multiplier = 1, bias B = bias::yes>
struct depthwise_conv2d_layer : layer<depthwise_conv2d_layer<K, O, Multiplier, B>> {
    static_assert(
        Multiplier > 0 && detail::positive(K, O) && O.groups == 1,
        "depthwise_conv2d: kernel, stride, dilation and multiplier must be positive; it makes its groups itself");
    static constexpr const char* name = "depthwise_conv2d";
    static constexpr tensor trace(tensor x) {
        if (!detail::can_convolve(x, op::convolution, K, O, 2, 1)) return {x.g, -1};
        const int c = x.shape().last();
        const tensor w = detail::convolution_kernel(x, "kernel", detail::kernel_extents_of(K, 2, c, Multiplier), false);
        return detail::with_bias<B>(ops::depthwise_conv2d(x, w, O), c * Multiplier);
    }
};
/// separable_conv2d<Filters, K, window{...}, M>: a depthwise convolution, then one of single
/// pixels. Parameters depthwise_kernel [K, K, C, M], pointwise_kernel [1, 1, C M, Filters], bias
/// [Filters]. Keras' SeparableConv2D.
template <int Filters, per_axis K, window O = window{}, int Multiplier = 1, bias B = bias::yes>
struct separable_conv2d_layer : layer<separable_conv2d_layer<Filters, K, O, Multiplier, B>> {
    static_assert(
        Filters > 0 && Multiplier > 0 && detail::positive(K, O) && O.groups == 1,
        "separable_conv2d: filters, kernel, stride, dilation and multiplier must be positive; it makes its groups "
        "itself");
    static constexpr const char* name = "separable_conv2d";
    static constexpr tensor trace(tensor x) {
        if (!detail::can_convolve(x, op::convolution, K, O, 2, Filters)) return {x.g, -1};
        const int c = x.shape().last();
        const tensor d =
            detail::convolution_kernel(x, "depthwise_kernel", detail::kernel_extents_of(K, 2, c, Multiplier), false);
        const tensor p =
            detail::convolution_kernel(x, "pointwise_kernel", extents(1, 1, c * Multiplier, Filters), true);
        return detail::with_bias<B>(ops::separable_conv2d(x, d, p, O), Filters);
    }
};
/// Transposed convolutions over Axes axes: parameters kernel [K..., Filters / groups, C], bias
/// [Filters]. Output padding as in ops/convolution_transpose.hpp. Keras' Conv1DTranspose,
/// Conv2DTranspose and Conv3DTranspose.
template <int Axes, int Filters, per_axis K, window O, per_axis OutputPadding, bias B>
struct conv_transpose_layer : layer<conv_transpose_layer<Axes, Filters, K, O, OutputPadding, B>> {
    static constexpr const char* name = Axes == 1   ? "conv1d_transpose"
                                        : Axes == 2 ? "conv2d_transpose"
                                                    : "conv3d_transpose";
    static constexpr tensor trace(tensor x) {
        if (!detail::can_convolve(x, op::convolution_input_gradient, K, O, Axes, Filters)) return {x.g, -1};
        const shape k = detail::kernel_extents_of(K, Axes, Filters / O.groups, x.shape().last());
        constexpr bool dense = Axes < 3 && O.groups == 1 && O.dilation == 1 && (Axes == 1 || O.stride.square());
        const tensor w = detail::convolution_kernel(x, "kernel", k, dense);
        return detail::with_bias<B>(ops::convolution_transpose(x, w, O, OutputPadding), Filters);
    }
};

template <int Filters, per_axis K, window O = window{}, bias B = bias::yes>
inline constexpr conv1d_layer<Filters, K, O, B> conv1d{};
template <int Filters, per_axis K, window O = window{}, bias B = bias::yes>
inline constexpr conv3d_layer<Filters, K, O, B> conv3d{};
template <per_axis K, window O = window{}, int Multiplier = 1, bias B = bias::yes>
inline constexpr depthwise_conv2d_layer<K, O, Multiplier, B> depthwise_conv2d{};
template <int Filters, per_axis K, window O = window{}, int Multiplier = 1, bias B = bias::yes>
inline constexpr separable_conv2d_layer<Filters, K, O, Multiplier, B> separable_conv2d{};
template <int Filters, per_axis K, window O = window{}, per_axis OutputPadding = 0, bias B = bias::yes>
inline constexpr conv_transpose_layer<1, Filters, K, O, OutputPadding, B> conv1d_transpose{};
template <int Filters, per_axis K, window O = window{}, per_axis OutputPadding = 0, bias B = bias::yes>
inline constexpr conv_transpose_layer<2, Filters, K, O, OutputPadding, B> conv2d_transpose{};
template <int Filters, per_axis K, window O = window{}, per_axis OutputPadding = 0, bias B = bias::yes>
inline constexpr conv_transpose_layer<3, Filters, K, O, OutputPadding, B> conv3d_transpose{};

} // namespace sinter
