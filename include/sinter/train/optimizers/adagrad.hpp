// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// Adagrad (Duchi et al. 2011): g += weight_decay * p; n += g^2; p -= rate * g / (sqrt(n) +
/// epsilon). PyTorch's form, the epsilon outside the root, and its defaults. (Keras: epsilon inside
/// the root, 1e-7, and n starts at 0.1.)
struct adagrad {
    schedule learning_rate = 0.01f;
    float initial_accumulator = 0.f, epsilon = 1e-10f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const {
        f("initial_accumulator", initial_accumulator, detail::allowed::not_negative);
        f("epsilon", epsilon, detail::allowed::not_negative);
        f("weight_decay", weight_decay, detail::allowed::not_negative);
    }
    static constexpr int slots = 1, n_scalars = 3;
    static constexpr const char* memory = "adagrad";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient() + p * u.scalar(2);
        const tensor n = u.slot(0) + g * g;
        u.set_slot(0, n);
        u.set_parameter(p - g * u.scalar(0) / (sqrt(n) + u.scalar(1)));
    }
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = detail::divided_by(epsilon);
        out[2] = weight_decay;
    }
    float first_of_slot(int) const { return initial_accumulator; }
};

} // namespace sinter
