// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/ops/upsample.hpp>

namespace sinter::inline SINTER_TARGET {

/// Where new pixels come from: the nearest old one, or the four around.
enum class interpolation { nearest, bilinear };

/// upsample<2>, upsample<per_axis(2, 3), interpolation::bilinear>: images so many times as high and
/// wide (see ops/upsample.hpp). Keras' UpSampling2D, PyTorch's Upsample with align_corners=False.
template <per_axis Factor, interpolation How = interpolation::nearest>
struct upsample_layer : plain_layer<upsample_layer<Factor, How>> {
    static_assert(Factor.least() > 0, "upsample: the factors must be positive");
    static constexpr tensor trace(tensor x) {
        if constexpr (How == interpolation::nearest) return ops::upsample_nearest(x, Factor);
        else if (!x.ok() || !ops::resizing::fits(x, Factor)) return {x.g, -1};
        else return ops::upsample_bilinear(x, x.shape().d[0] * Factor.d[1], x.shape().d[1] * Factor.d[2]);
    }
};
template <per_axis Factor, interpolation How = interpolation::nearest>
inline constexpr upsample_layer<Factor, How> upsample{};

} // namespace sinter
