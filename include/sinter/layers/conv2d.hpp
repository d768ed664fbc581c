// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/dense.hpp>
#include <sinter/ops/conv2d.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {

/// Extents of a convolution's kernel over `axes` axes: [K..., inputs, outputs].
constexpr shape kernel_extents_of(per_axis k, int axes, int inputs, int outputs) {
    shape s{.rank = axes + 2};
    for (int i = 0; i < axes; ++i) s.d[i] = k.d[3 - axes + i];
    s.d[axes] = inputs;
    s.d[axes + 1] = outputs;
    return s;
}
/// A kernel (Glorot uniform), packed where the dense kernels will take it.
constexpr tensor convolution_kernel(tensor x, const char* name, const shape& s, bool dense) {
    const int taps = s.rows() / s.d[s.rank - 2];
    const initializer init = s.is_too_large()   // a fault of the parameter's
                                 ? zeros : initializer(glorot_uniform(taps * s.d[s.rank - 2], taps * s.last()));
    return dense ? weights(x, name, s, init) : parameter(x, name, s, init);
}
constexpr bool positive(per_axis k, const window& o) {
    return k.least() > 0 && o.stride.least() > 0 && o.dilation.least() > 0 && o.groups > 0;
}
template <bias B>
constexpr tensor with_bias(tensor y, int filters) {
    if constexpr (B == bias::no) return y;
    else return y + parameter(y, "bias", extents(filters), zeros);
}
/// What a kernel needs of x: `axes` axes and channels that the groups divide.
constexpr bool can_convolve(tensor x, const op_name& k, per_axis size, const window& o, int axes, int filters) {
    const shape s = x.shape();
    if (!positive(size, o) || filters < 1) {
        x.g->fail(fault_kind::extents_not_positive, k, kernel_extents_of(size, axes, 1, filters), extents());
    } else if (s.rank != axes + 1) {
        shape least = kernel_extents_of(size, axes, 1, 1);
        least.rank = axes + 1;
        x.g->fail(fault_kind::needs_height_width_channels, k, s, least);
    } else if (s.last() % o.groups || filters % o.groups) {
        x.g->fail(fault_kind::groups_do_not_divide_channels, k, extents(s.last(), filters), extents(o.groups));
    } else {
        return true;
    }
    return false;
}

} // namespace detail

/// conv2d<Filters, K, window{.stride, .padding, .dilation, .groups}>: [H, W, C] -> [OH, OW,
/// Filters]. Parameters kernel [K, K, C / groups, Filters] (Glorot uniform), bias [Filters]
/// (zeros); per_axis(3, 5) is a window 3 high and 5 wide. Keras' Conv2D, but padding is `same`
/// unless told otherwise.
template <int Filters, per_axis K, window O = window{}, bias B = bias::yes>
struct conv2d_layer : layer<conv2d_layer<Filters, K, O, B>> {
    static constexpr const char* name = "conv2d";
    static constexpr tensor trace(tensor x) {
        if (!detail::can_convolve(x, op::conv, K, O, 2, Filters)) return {x.g, -1};
        const shape s = x.shape();
        const sliding v(s.d[0], K.d[1], O, 1), h(s.d[1], K.d[2], O, 2);
        const shape k = detail::kernel_extents_of(K, 2, s.d[2] / O.groups, Filters);
        const tensor w = detail::convolution_kernel(x, "kernel", k, ops::is_dense(v, h, O.groups));
        return detail::with_bias<B>(ops::conv2d(x, w, O), Filters);
    }
};
template <int Filters, per_axis K, window O = window{}, bias B = bias::yes>
inline constexpr conv2d_layer<Filters, K, O, B> conv2d{};

} // namespace sinter
