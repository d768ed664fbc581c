// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// Momentum whose velocity is a moving average of the gradients: v = momentum * v + (1 - momentum)
/// * (g + weight_decay * p); p -= rate * v. As Adam's first moment, without its correction: a step
/// is as long as a gradient is, whatever the momentum. PyTorch's SGD with dampening = momentum, but
/// for its first step (PyTorch starts with v = g, this with v = 0).
struct averaged_momentum {
    schedule learning_rate = 0.01f;
    float momentum_rate = 0.9f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const {
        f("momentum_rate", momentum_rate, detail::allowed::not_negative);
        f("weight_decay", weight_decay, detail::allowed::not_negative);
    }
    static constexpr int slots = 1, n_scalars = 4;
    static constexpr const char* memory = "averaged_momentum";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter();
        const tensor v = u.slot(0) * u.scalar(1) + (u.gradient() + p * u.scalar(2)) * u.scalar(3);
        u.set_slot(0, v);
        u.set_parameter(p - v * u.scalar(0));
    }
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = momentum_rate;
        out[2] = weight_decay;
        out[3] = 1.f - momentum_rate;
    }
};

} // namespace sinter
