// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/max_pool.hpp>
#include <sinter/ops/sum.hpp>

namespace sinter::inline SINTER_TARGET {

/// max_pool<K>, avg_pool<K>: windows of K x K that do not overlap, [H, W, C] -> [H / K, W / K, C]
/// (rows and columns left over are dropped); another window{.stride, .padding} may be given. Keras'
/// MaxPooling2D and AveragePooling2D.
template <per_axis K, window O = window{.stride = K, .padding = padding::valid}>
struct max_pool_layer : layer<max_pool_layer<K, O>> {
    static_assert(K.least() > 0 && 1. * K.d[1] * K.d[2] <= 255 && O.stride.least() > 0,
                  "max_pool: window positive and of at most 255 elements (15 x 15), positive stride");
    static constexpr const char* name = "max_pool";
    static constexpr tensor trace(tensor x) { return ops::max_pool(x, K, O); }
};
template <per_axis K, window O = window{.stride = K, .padding = padding::valid}>
struct avg_pool_layer : layer<avg_pool_layer<K, O>> {
    static_assert(K.least() > 0 && O.stride.least() > 0, "avg_pool: window and stride must be positive");
    static constexpr const char* name = "avg_pool";
    static constexpr tensor trace(tensor x) { return ops::avg_pool(x, K, O); }
};
/// [H, W, C] -> [C], the mean over the image. Keras' GlobalAveragePooling2D.
struct global_avg_pool_layer : layer<global_avg_pool_layer> {
    static constexpr const char* name = "global_avg_pool";
    static constexpr tensor trace(tensor x) {
        if (x.shape().rank != 3)
            return fail(x.g, fault_kind::needs_height_width_channels, op::avg_pool, x.shape(),
                        batch_of(1, 1, x.shape().last()));
        return mean(x, {0, 1});
    }
};
template <per_axis K, window O = window{.stride = K, .padding = padding::valid}>
inline constexpr max_pool_layer<K, O> max_pool{};
template <per_axis K, window O = window{.stride = K, .padding = padding::valid}>
inline constexpr avg_pool_layer<K, O> avg_pool{};
inline constexpr global_avg_pool_layer global_avg_pool{};

} // namespace sinter
