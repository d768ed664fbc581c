// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/graph/number.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/detail/batch_norm.hpp>
#include <sinter/ops/detail/layer_norm.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/sqrt.hpp>

namespace sinter::inline SINTER_TARGET {

/// batch_norm: y = gamma (x - mean) / sqrt(variance + epsilon) + beta for each channel (the last
/// axis). In training mean and (biased) variance are the batch's, over all other axes, and the
/// running ones move towards them: running = m * running + (1 - m) * batch; elsewhere the running
/// ones are used (Ioffe and Szegedy 2015). Defaults are Keras': m = 0.99, epsilon = 0.001. (PyTorch
/// keeps 1 - m as its momentum and runs the unbiased variance.) Where the sum of squared distances
/// is beyond floats (of numbers 1.8e19 apart at the latest) the running variance would be infinite,
/// and training ends with an error.
///
/// Where a strategy divides the batch, its statistics are each shard's own.
/// `synchronised_batch_norm` has those of the global batch, whatever the shards' sizes: all shards
/// then wait for each other four times for each such layer. On one device it is batch_norm, to the
/// bit, under the same names.
template <number Momentum = 0.99, number Epsilon = 0.001, batch_statistics Of = batch_statistics::local>
struct batch_norm_layer : layer<batch_norm_layer<Momentum, Epsilon, Of>> {
    static constexpr const char* name = "batch_norm";
    static constexpr tensor trace(tensor x) {
        const shape c = extents(x.shape().last());
        const tensor gamma = parameter(x, "gamma", c, ones), beta = parameter(x, "beta", c, zeros);
        const tensor running_mean = state(x, "running_mean", c, zeros),
                     running_var = state(x, "running_variance", c, ones);
        if (!x.g->trains())
            return (x - running_mean) * (gamma / sqrt(running_var + Epsilon.value)) + beta;
        const detail::batch_normalized n = detail::batch_normalize<Of>(x, gamma, beta, Epsilon.value);
        const tensor keep = constant(x.g, Momentum.value);
        const auto moved = [&](tensor s, tensor towards) {
            return ops::multiply_add(detail::so_far(s), keep, towards * (1.f - Momentum.value));
        };
        detail::assign_value(running_mean, moved(running_mean, n.mean), true);   // shared: each time
        detail::assign_value(running_var, moved(running_var, n.variance), true);
        return n.y;
    }
};
/// layer_norm: y = gamma (x - mean) / sqrt(variance + epsilon) + beta, mean and variance over the
/// last axis of each example (Ba et al. 2016); epsilon as in PyTorch. A constant row becomes beta
/// exactly, however large. Rows of numbers 1.8e19 and more apart, whose squares overflow, become
/// beta, too.
template <number Epsilon = 1e-5>
struct layer_norm_layer : layer<layer_norm_layer<Epsilon>> {
    static constexpr const char* name = "layer_norm";
    static constexpr tensor trace(tensor x) {
        const shape c = extents(x.shape().last());
        const tensor gamma = parameter(x, "gamma", c, ones), beta = parameter(x, "beta", c, zeros);
        return detail::layer_normalize(x, gamma, beta, Epsilon.value);
    }
};
/// The same with other numbers: `batch_norm_with<0.9, 1e-5>`, `layer_norm_with<1e-6>`,
/// `synchronised_batch_norm_with<0.9, 1e-5>`.
template <number Momentum = 0.99, number Epsilon = 0.001>
inline constexpr batch_norm_layer<Momentum, Epsilon> batch_norm_with{};
inline constexpr batch_norm_layer<> batch_norm{};
template <number Momentum = 0.99, number Epsilon = 0.001>
inline constexpr batch_norm_layer<Momentum, Epsilon, batch_statistics::synchronised> synchronised_batch_norm_with{};
inline constexpr auto& synchronised_batch_norm = synchronised_batch_norm_with<>;
template <number Epsilon = 1e-5>
inline constexpr layer_norm_layer<Epsilon> layer_norm_with{};
inline constexpr layer_norm_layer<> layer_norm{};

} // namespace sinter
