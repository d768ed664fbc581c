// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/maximum.hpp>
#include <sinter/train/optimizers/adam.hpp>

namespace sinter::inline SINTER_TARGET {

/// AMSGrad (Reddi et al. 2018): Adam that divides by the greatest second moment so far, w = max(w,
/// v): p -= rate * m^ / (sqrt(w / (1 - b2^t)) + epsilon). PyTorch's Adam(amsgrad=True);
/// weight_decay is an L2 penalty.
struct amsgrad {
    schedule learning_rate = 1e-3f;
    float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { detail::each_adam_setting(*this, f); }
    static constexpr int slots = 3, n_scalars = 7;
    static constexpr const char* memory = "amsgrad";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient() + p * u.scalar(6);
        const tensor m = u.slot(0) + (g - u.slot(0)) * u.scalar(1);
        const tensor v = u.slot(1) * u.scalar(2) + g * g * u.scalar(3);
        const tensor most = maximum(u.slot(2), v);
        u.set_slot(0, m);
        u.set_slot(1, v);
        u.set_slot(2, most);
        u.set_parameter(p - m * u.scalar(0) / (sqrt(most) * u.scalar(4) + u.scalar(5)));
    }
    void scalars(std::int64_t step, float* out) const {
        detail::adam_scalars(learning_rate.at(step), beta1, beta2, epsilon, step, out);
        out[6] = weight_decay;
    }
};

} // namespace sinter
