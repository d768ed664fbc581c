// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// Stochastic gradient descent: p -= rate * (g + weight_decay * p) (PyTorch's SGD; the decay is an
/// L2 penalty).
struct sgd {
    schedule learning_rate = 0.01f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { f("weight_decay", weight_decay, detail::allowed::not_negative); }
    static constexpr int slots = 0, n_scalars = 2;
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter();
        u.set_parameter(p - (u.gradient() + p * u.scalar(1)) * u.scalar(0));
    }
    /// The numbers of step `step` (0 is the first), for update_context::scalar.
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = weight_decay;
    }
};

} // namespace sinter
