// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/norm.hpp>
#include <sinter/ops/group_norm.hpp>
#include <sinter/ops/local_response_norm.hpp>
#include <sinter/ops/rms_norm.hpp>

/// Normalisations beside batch_norm and layer_norm. None keeps running statistics: training and
/// prediction are alike. Each has its usual epsilon, and as NAME_with<..., Epsilon> another.
namespace sinter::inline SINTER_TARGET {

namespace detail {
constexpr tensor affine(tensor y) {
    const shape c = extents(y.shape().last());
    return y.ok() ? y * parameter(y, "gamma", c, ones) + parameter(y, "beta", c, zeros) : y;
}
} // namespace detail

/// group_norm<G>: each example's channels in G groups (see ops/group_norm.hpp), parameters gamma
/// and beta [C]. Epsilon is PyTorch's 1e-5; Keras has 1e-3.
template <int Groups, number Epsilon = 1e-5>
struct group_norm_layer : layer<group_norm_layer<Groups, Epsilon>> {
    static_assert(Groups > 0, "group_norm: the number of groups must be positive");
    static constexpr const char* name = "group_norm";
    static constexpr tensor trace(tensor x) { return detail::affine(ops::group_norm(x, Groups, Epsilon.value)); }
};
/// instance_norm: each channel of each example apart, parameters gamma and beta [C] (PyTorch's
/// affine=True).
template <number Epsilon = 1e-5>
struct instance_norm_layer : layer<instance_norm_layer<Epsilon>> {
    static constexpr const char* name = "instance_norm";
    static constexpr tensor trace(tensor x) { return detail::affine(ops::instance_norm(x, Epsilon.value)); }
};
/// rms_norm: over the last axis, parameter gamma [C]; epsilon as in Keras.
template <number Epsilon = 1e-6>
struct rms_norm_layer : layer<rms_norm_layer<Epsilon>> {
    static constexpr const char* name = "rms_norm";
    static constexpr tensor trace(tensor x) {
        return ops::rms_norm(x, Epsilon.value) * parameter(x, "gamma", extents(x.shape().last()), ones);
    }
};
/// local_response_norm<Size, Alpha, Beta, K>: see ops/local_response_norm.hpp; the defaults are
/// PyTorch's.
template <int Size = 5, number Alpha = 1e-4, number Beta = 0.75, number K = 1.>
struct local_response_norm_layer : plain_layer<local_response_norm_layer<Size, Alpha, Beta, K>> {
    static constexpr tensor trace(tensor x) {
        return ops::local_response_norm(x, {.size = Size, .alpha = Alpha.value, .beta = Beta.value, .k = K.value});
    }
};
template <int Groups>
inline constexpr group_norm_layer<Groups> group_norm{};
template <int Groups, number Epsilon>
inline constexpr group_norm_layer<Groups, Epsilon> group_norm_with{};
inline constexpr instance_norm_layer<> instance_norm{};
template <number Epsilon>
inline constexpr instance_norm_layer<Epsilon> instance_norm_with{};
inline constexpr rms_norm_layer<> rms_norm{};
template <number Epsilon>
inline constexpr rms_norm_layer<Epsilon> rms_norm_with{};
template <int Size = 5, number Alpha = 1e-4, number Beta = 0.75, number K = 1.>
inline constexpr local_response_norm_layer<Size, Alpha, Beta, K> local_response_norm{};

} // namespace sinter
