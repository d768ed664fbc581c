// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/dropout.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/random_normal.hpp>

/// What is added to training beside dropout. Elsewhere these layers do nothing.
namespace sinter::inline SINTER_TARGET {

/// spatial_dropout<0.2f>: whole channels of an example, [..., C], are zero with this probability
/// and else divided by the rest (Tompson et al. 2015). Keras' SpatialDropout1D to 3D, PyTorch's
/// Dropout1d to 3d.
template <number Rate>
struct spatial_dropout_layer : plain_layer<spatial_dropout_layer<Rate>> {
    static_assert(Rate.value >= 0.f && Rate.value < 1.f, "spatial_dropout: the rate must be at least 0 and below 1");
    static constexpr tensor trace(tensor x) {
        if (!x.g->trains("spatial_dropout") || Rate.value == 0.f) return x;
        shape channels = x.shape().plain();
        for (int i = 0; i + 1 < channels.rank; ++i) channels.d[i] = 1;
        const tensor u = make<op::random_uniform>(x.g, channels, {}, {++x.g->streams});
        const tensor alive = ops::binary<op::greater>(constant(x.g, 1.f - Rate.value), u);
        return x * (alive * (1.f / (1.f - Rate.value)));
    }
};
/// alpha_dropout<0.1f>: dropout behind selu (Klambauer et al. 2017): what is dropped takes selu's
/// limit -1.7581, and all is scaled and shifted so that mean 0 and variance 1 stay.
template <number Rate>
struct alpha_dropout_layer : plain_layer<alpha_dropout_layer<Rate>> {
    static_assert(Rate.value >= 0.f && Rate.value < 1.f, "alpha_dropout: the rate must be at least 0 and below 1");
    static constexpr tensor trace(tensor x) {
        if (!x.g->trains("alpha_dropout") || Rate.value == 0.f) return x;
        constexpr float limit = -1.7580993408f, rest = 1.f - Rate.value;
        constexpr float scale = 1.f / compiler::root(rest + limit * limit * rest * Rate.value),
                        shift = -scale * Rate.value * limit;
        const tensor alive = ops::binary<op::greater>(constant(x.g, rest), ops::random_uniform(x));
        return (x * alive + (1.f - alive) * limit) * scale + shift;
    }
};
/// gaussian_noise<0.1f>: normal numbers of this standard deviation are added. Keras' GaussianNoise.
template <number Deviation>
struct gaussian_noise_layer : plain_layer<gaussian_noise_layer<Deviation>> {
    static_assert(Deviation.value >= 0.f, "gaussian_noise: the standard deviation must not be negative");
    static constexpr tensor trace(tensor x) {
        return !x.g->trains("gaussian_noise") ? x : x + ops::random_normal(x) * Deviation.value;
    }
};
template <number Rate>
inline constexpr spatial_dropout_layer<Rate> spatial_dropout{};
template <number Rate>
inline constexpr alpha_dropout_layer<Rate> alpha_dropout{};
template <number Deviation>
inline constexpr gaussian_noise_layer<Deviation> gaussian_noise{};

} // namespace sinter
