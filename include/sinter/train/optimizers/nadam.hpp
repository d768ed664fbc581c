// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/div.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// NAdam (Dozat 2016): Adam with Nesterov's momentum, whose rate warms up: mu_t = b1 (1 - 0.96^(t *
/// momentum_decay) / 2); p -= rate ((1 - mu_t) / (1 - mu_1 ... mu_t) g + mu_{t+1} / (1 - mu_1 ...
/// mu_{t+1}) m) / (sqrt(v^) + epsilon). PyTorch's form and defaults (Keras has momentum_decay 1,
/// rate 0.001); weight_decay is an L2 penalty.
struct nadam {
    schedule learning_rate = 2e-3f;
    float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
    float momentum_decay = 4e-3f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const {
        detail::each_adam_setting(*this, f);
        f("momentum_decay", momentum_decay, detail::allowed::not_negative);
    }
    static constexpr int slots = 2, n_scalars = 8;
    static constexpr const char* memory = "adam";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient() + p * u.scalar(7);
        const tensor m = u.slot(0) + (g - u.slot(0)) * u.scalar(2);
        const tensor v = u.slot(1) * u.scalar(3) + g * g * u.scalar(4);
        u.set_slot(0, m);
        u.set_slot(1, v);
        u.set_parameter(p - (g * u.scalar(0) + m * u.scalar(1)) / (sqrt(v) * u.scalar(5) + u.scalar(6)));
    }
    void scalars(std::int64_t step, float* out) const {
        const double rate = static_cast<double>(learning_rate.at(step)), b1 = static_cast<double>(beta1);
        const double fade = __builtin_pow(0.96, static_cast<double>(momentum_decay));
        const auto mu = [&](std::int64_t t) { return b1 * (1 - 0.5 * __builtin_pow(fade, static_cast<double>(t))); };
        double product = 1, power = 1;   // mu_1 ... mu_t; 1 less of what is below is 1
        for (std::int64_t t = 1; t <= step + 1 && product > 1e-20; ++t) product *= b1 * (1 - 0.5 * (power *= fade));
        const double now = mu(step + 1), next = mu(step + 2);
        out[0] = static_cast<float>(rate * (1 - now) / (1 - product));
        out[1] = static_cast<float>(rate * next / (1 - product * next));
        out[2] = 1.f - beta1;
        out[3] = beta2;
        out[4] = 1.f - beta2;
        const double b2 = __builtin_pow(static_cast<double>(beta2), static_cast<double>(step + 1));
        out[5] = static_cast<float>(1. / __builtin_sqrt(1. - b2));
        out[6] = detail::divided_by(epsilon);
        out[7] = weight_decay;
    }
};

} // namespace sinter
