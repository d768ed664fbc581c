// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sign.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// Lion (Chen et al. 2023): p -= rate * (sign(b1 m + (1 - b1) g) + weight_decay * p); m = b2 m + (1
/// - b2) g. The decay is decoupled; the sign of 0 is 0. Keras' Lion is the same, its default rate
/// 0.001.
struct lion {
    schedule learning_rate = 1e-4f;
    float beta1 = 0.9f, beta2 = 0.99f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const {
        f("beta1", beta1, detail::allowed::up_to_one);
        f("beta2", beta2, detail::allowed::up_to_one);
        f("weight_decay", weight_decay, detail::allowed::not_negative);
    }
    static constexpr int slots = 1, n_scalars = 4;
    static constexpr const char* memory = "lion";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient(), m = u.slot(0);
        const tensor way = ops::sign(m + (g - m) * u.scalar(1));
        u.set_slot(0, m + (g - m) * u.scalar(2));
        u.set_parameter(p - p * u.scalar(3) - way * u.scalar(0));
    }
    void scalars(std::int64_t step, float* out) const {
        const float rate = learning_rate.at(step);
        out[0] = rate;
        out[1] = 1.f - beta1;
        out[2] = 1.f - beta2;
        out[3] = rate * weight_decay;
    }
};

} // namespace sinter
