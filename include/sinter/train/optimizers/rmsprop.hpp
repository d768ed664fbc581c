// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/div.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/program/optimizer_code.hpp>
#include <sinter/train/schedule.hpp>

namespace sinter {

/// RMSprop (Tieleman and Hinton 2012): g += weight_decay * p; n = rho n + (1 - rho) g^2; p -= rate * g / (sqrt(n) + epsilon).
/// PyTorch's form, the epsilon outside the root, and its defaults. (Keras: inside, rate 0.001, rho 0.9, epsilon 1e-7.)
struct rmsprop {
    schedule learning_rate = 0.01f;
    float rho = 0.99f, epsilon = 1e-8f;
    float weight_decay = 0.f;

    static constexpr int slots = 1, n_scalars = 5;
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient() + p * u.scalar(4);
        const tensor n = u.slot(0) * u.scalar(1) + g * g * u.scalar(2);
        u.set_slot(0, n);
        u.set_parameter(p - g * u.scalar(0) / (sqrt(n) + u.scalar(3)));
    }
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = rho;
        out[2] = 1.f - rho;
        out[3] = epsilon;
        out[4] = weight_decay;
    }
};

/// RMSprop with momentum behind it: v = momentum * v + g / (sqrt(n) + epsilon); p -= rate * v (PyTorch's, the rate outside
/// the velocity; Keras has it inside).
struct rmsprop_momentum {
    schedule learning_rate = 0.01f;
    float rho = 0.99f, epsilon = 1e-8f;
    float momentum_rate = 0.9f;
    float weight_decay = 0.f;

    static constexpr int slots = 2, n_scalars = 6;
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient() + p * u.scalar(4);
        const tensor n = u.slot(0) * u.scalar(1) + g * g * u.scalar(2);
        const tensor v = u.slot(1) * u.scalar(5) + g / (sqrt(n) + u.scalar(3));
        u.set_slot(0, n);
        u.set_slot(1, v);
        u.set_parameter(p - v * u.scalar(0));
    }
    void scalars(std::int64_t step, float* out) const {
        rmsprop{learning_rate, rho, epsilon, weight_decay}.scalars(step, out);
        out[5] = momentum_rate;
    }
};

/// Centred RMSprop (Graves 2013): divides by the root of the gradients' variance, n - a^2 with a = rho a + (1 - rho) g, which
/// is never taken for less than 0.
struct centred_rmsprop {
    schedule learning_rate = 0.01f;
    float rho = 0.99f, epsilon = 1e-8f;
    float weight_decay = 0.f;

    static constexpr int slots = 2, n_scalars = 5;
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient() + p * u.scalar(4);
        const tensor n = u.slot(0) * u.scalar(1) + g * g * u.scalar(2), a = u.slot(1) * u.scalar(1) + g * u.scalar(2);
        u.set_slot(0, n);
        u.set_slot(1, a);
        u.set_parameter(p - g * u.scalar(0) / (sqrt(maximum(n - a * a, 0.f)) + u.scalar(3)));
    }
    void scalars(std::int64_t step, float* out) const { rmsprop{learning_rate, rho, epsilon, weight_decay}.scalars(step, out); }
};

} // namespace sinter
