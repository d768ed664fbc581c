// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/div.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// Adadelta (Zeiler 2012): g += weight_decay * p; n = rho n + (1 - rho) g^2; d = sqrt(a + epsilon)
/// / sqrt(n + epsilon) * g; a = rho a + (1 - rho) d^2; p -= rate * d. PyTorch and Keras agree; the
/// defaults are PyTorch's (Keras: rate 0.001, rho 0.95, epsilon 1e-7).
struct adadelta {
    schedule learning_rate = 1.f;
    float rho = 0.9f, epsilon = 1e-6f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const {
        f("rho", rho, detail::allowed::up_to_one);
        f("epsilon", epsilon, detail::allowed::not_negative);
        f("weight_decay", weight_decay, detail::allowed::not_negative);
    }
    static constexpr int slots = 2, n_scalars = 5;
    static constexpr const char* memory = "adadelta";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient() + p * u.scalar(4);
        const tensor n = u.slot(0) * u.scalar(1) + g * g * u.scalar(2);
        const tensor d =
            g * (sqrt(u.slot(1) + u.scalar(3)) / sqrt(n + u.scalar(3)));   // one root of both would vanish early
        u.set_slot(0, n);
        u.set_slot(1, u.slot(1) * u.scalar(1) + d * d * u.scalar(2));
        u.set_parameter(p - d * u.scalar(0));
    }
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = rho;
        out[2] = 1.f - rho;
        out[3] = detail::divided_by(epsilon);
        out[4] = weight_decay;
    }
};

} // namespace sinter
