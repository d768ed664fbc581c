// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// Momentum with the rate inside the velocity: v = momentum * v - rate * (g + weight_decay * p); p
/// += v (Polyak 1964; Sutskever et al. 2013; Keras' SGD). At a rate that never changes it is
/// `momentum`; when the rate falls, velocity from before keeps the size it had.
struct heavy_ball {
    schedule learning_rate = 0.01f;
    float momentum_rate = 0.9f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const {
        f("momentum_rate", momentum_rate, detail::allowed::not_negative);
        f("weight_decay", weight_decay, detail::allowed::not_negative);
    }
    static constexpr int slots = 1, n_scalars = 3;
    static constexpr const char* memory = "heavy_ball";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter();
        const tensor v = u.slot(0) * u.scalar(1) - (u.gradient() + p * u.scalar(2)) * u.scalar(0);
        u.set_slot(0, v);
        u.set_parameter(p + v);
    }
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = momentum_rate;
        out[2] = weight_decay;
    }
};

} // namespace sinter
