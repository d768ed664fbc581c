// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// AdaMax (Kingma and Ba 2015, section 7.1): Adam with the infinity norm: m = b1 m + (1 - b1) g; n
/// = max(b2 n, |g| + epsilon); p -= rate / (1 - b1^t) * m / n. PyTorch's form (Keras adds epsilon
/// to n where it divides, 1e-7); weight_decay is an L2 penalty.
struct adamax {
    schedule learning_rate = 2e-3f;
    float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { detail::each_adam_setting(*this, f); }
    static constexpr int slots = 2, n_scalars = 5;
    static constexpr const char* memory = "adamax";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient() + p * u.scalar(4);
        const tensor m = u.slot(0) + (g - u.slot(0)) * u.scalar(1);
        const tensor n = maximum(u.slot(1) * u.scalar(2), ops::abs(g) + u.scalar(3));
        u.set_slot(0, m);
        u.set_slot(1, n);
        u.set_parameter(p - m * u.scalar(0) / n);
    }
    void scalars(std::int64_t step, float* out) const {
        const double t = static_cast<double>(step + 1);
        const double rate = static_cast<double>(learning_rate.at(step));
        out[0] = static_cast<float>(rate / (1. - __builtin_pow(static_cast<double>(beta1), t)));
        out[1] = 1.f - beta1;
        out[2] = beta2;
        out[3] = detail::divided_by(epsilon);
        out[4] = weight_decay;
    }
};

} // namespace sinter
