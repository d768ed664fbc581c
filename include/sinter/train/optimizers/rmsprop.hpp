// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/div.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// RMSprop (Tieleman and Hinton 2012): g += weight_decay * p; n = rho n + (1 - rho) g^2; p -= rate
/// * g / (sqrt(n) + epsilon). PyTorch's form, the epsilon outside the root, and its defaults. Keras
/// has it inside: {.learning_rate = 0.001f, .rho = 0.9f, .epsilon = 0, .epsilon_inside = 1e-7f}. So
/// it is with those below.
struct rmsprop {
    schedule learning_rate = 0.01f;
    float rho = 0.99f, epsilon = 1e-8f, epsilon_inside = 0.f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { detail::each_rmsprop_setting(*this, f); }
    static constexpr int slots = 1, n_scalars = 6;
    static constexpr const char* memory = "rmsprop";
    static constexpr void update(update_context& u) {
        const tensor g = gradient(u), n = average(u, 0, g * g);
        u.set_parameter(u.parameter() - scaled(u, g, n) * u.scalar(0));
    }
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = rho;
        out[2] = 1.f - rho;
        out[3] = detail::divided_by(epsilon);
        out[4] = weight_decay;
        out[5] = epsilon_inside;
    }

    // what the others share
    static constexpr tensor gradient(update_context& u) { return u.gradient() + u.parameter() * u.scalar(4); }
    /// The slot's moving average, a new value taken in.
    static constexpr tensor average(update_context& u, int slot, tensor value) {
        const tensor n = u.slot(slot) * u.scalar(1) + value * u.scalar(2);
        u.set_slot(slot, n);
        return n;
    }
    static constexpr tensor scaled(update_context& u, tensor g, tensor n) {
        return g / (sqrt(n + u.scalar(5)) + u.scalar(3));
    }
    /// n less the square of the gradients' average, which roundings must not make negative.
    static constexpr tensor centred(update_context& u, tensor g, tensor n) {
        const tensor a = average(u, 1, g);
        return maximum(n - a * a, 0.f);
    }
    /// The velocity v = momentum * v + d.
    static constexpr tensor velocity(update_context& u, int slot, tensor d) {
        const tensor v = u.slot(slot) * u.scalar(n_scalars) + d;
        u.set_slot(slot, v);
        return v;
    }
};

/// RMSprop with momentum behind it: v = momentum * v + g / (sqrt(n) + epsilon); p -= rate * v
/// (PyTorch's, the rate outside the velocity; Keras has it inside, which differs where the rate
/// changes).
struct rmsprop_momentum {
    schedule learning_rate = 0.01f;
    float rho = 0.99f, epsilon = 1e-8f, epsilon_inside = 0.f;
    float momentum_rate = 0.9f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { detail::each_rmsprop_setting(*this, f); }
    static constexpr int slots = 2, n_scalars = rmsprop::n_scalars + 1;
    static constexpr const char* memory = "rmsprop_momentum";
    static constexpr void update(update_context& u) {
        const tensor g = rmsprop::gradient(u), n = rmsprop::average(u, 0, g * g);
        u.set_parameter(u.parameter() - rmsprop::velocity(u, 1, rmsprop::scaled(u, g, n)) * u.scalar(0));
    }
    void scalars(std::int64_t step, float* out) const {
        rmsprop{learning_rate, rho, epsilon, epsilon_inside, weight_decay}.scalars(step, out);
        out[rmsprop::n_scalars] = momentum_rate;
    }
};

/// Centred RMSprop (Graves 2013): divides by the root of the gradients' variance, n - a^2 with a =
/// rho a + (1 - rho) g, which is never taken for less than 0.
struct centred_rmsprop {
    schedule learning_rate = 0.01f;
    float rho = 0.99f, epsilon = 1e-8f, epsilon_inside = 0.f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { detail::each_rmsprop_setting(*this, f); }
    static constexpr int slots = 2, n_scalars = rmsprop::n_scalars;
    static constexpr const char* memory = "centred_rmsprop";
    static constexpr void update(update_context& u) {
        const tensor g = rmsprop::gradient(u), n = rmsprop::average(u, 0, g * g);
        u.set_parameter(u.parameter() - rmsprop::scaled(u, g, rmsprop::centred(u, g, n)) * u.scalar(0));
    }
    void scalars(std::int64_t step, float* out) const {
        rmsprop{learning_rate, rho, epsilon, epsilon_inside, weight_decay}.scalars(step, out);
    }
};

/// Both: the centred form with momentum behind it.
struct centred_rmsprop_momentum {
    schedule learning_rate = 0.01f;
    float rho = 0.99f, epsilon = 1e-8f, epsilon_inside = 0.f;
    float momentum_rate = 0.9f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { detail::each_rmsprop_setting(*this, f); }
    static constexpr int slots = 3, n_scalars = rmsprop_momentum::n_scalars;
    static constexpr const char* memory = "centred_rmsprop_momentum";
    static constexpr void update(update_context& u) {
        const tensor g = rmsprop::gradient(u), n = rmsprop::average(u, 0, g * g);
        const tensor v = rmsprop::velocity(u, 2, rmsprop::scaled(u, g, rmsprop::centred(u, g, n)));
        u.set_parameter(u.parameter() - v * u.scalar(0));
    }
    void scalars(std::int64_t step, float* out) const {
        rmsprop_momentum{learning_rate, rho, epsilon, epsilon_inside, momentum_rate, weight_decay}.scalars(step, out);
    }
};

} // namespace sinter
