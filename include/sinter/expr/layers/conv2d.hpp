// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/layers/dense.hpp>
#include <sinter/ops/conv2d.hpp>

namespace sinter {

/// conv2d<Filters, K, window{.stride, .padding}>: [H, W, C] -> [OH, OW, Filters]. Parameters kernel [K, K, C, Filters]
/// (Glorot uniform), bias [Filters] (zeros). Keras' Conv2D, but padding is `same` unless told otherwise.
template <int Filters, int K, window O = window{}, bias B = bias::yes>
struct conv2d_layer : layer<conv2d_layer<Filters, K, O, B>> {
    static_assert(Filters > 0 && K > 0 && O.stride.least() > 0, "conv2d: filters, kernel and stride must be positive");
    static constexpr const char* name = "conv2d";
    static constexpr tensor trace(tensor x) {
        const shape s = x.shape();
        if (s.rank != 3) return fail(x.g, fault_kind::needs_height_width_channels, op::conv, s, batch_of(K, K, 1));
        const initializer init = glorot_uniform(K * K * s.d[2], K * K * Filters);
        const tensor y = ops::conv2d(x, weights(x, "kernel", extents(K, K, s.d[2], Filters), init), O);
        if constexpr (B == bias::no) return y;
        else return y + parameter(x, "bias", extents(Filters), zeros);
    }
};
template <int Filters, int K, window O = window{}, bias B = bias::yes>
inline constexpr conv2d_layer<Filters, K, O, B> conv2d{};

} // namespace sinter
