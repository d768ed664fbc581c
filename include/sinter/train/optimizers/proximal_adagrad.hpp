// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/div.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/optimizers/detail/shrink.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// Adagrad with L1 and L2 penalties applied as proximal steps (Duchi and Singer 2009), so that L1
/// makes exact zeros: n += g^2; r = rate / sqrt(n); q = p - r g; p = sign(q) max(|q| - r l1, 0) /
/// (1 + r l2). TensorFlow's ProximalAdagradOptimizer, and its default n = 0.1 at the start.
struct proximal_adagrad {
    schedule learning_rate = 0.01f;
    float initial_accumulator = 0.1f;
    float l1 = 0.f, l2 = 0.f;

    void each_setting(detail::setting_call f) const {
        f("initial_accumulator", initial_accumulator, detail::allowed::not_negative);
        f("l1", l1, detail::allowed::not_negative);
        f("l2", l2, detail::allowed::not_negative);
    }
    static constexpr int slots = 1, n_scalars = 3;
    static constexpr const char* memory = "adagrad";
    static constexpr void update(update_context& u) {
        const tensor g = u.gradient(), n = u.slot(0) + g * g;
        const tensor rate = u.scalar(0) / maximum(sqrt(n), 1e-30f);   // the columns that pad packed weights have n = 0
        u.set_slot(0, n);
        u.set_parameter(detail::shrink(u.parameter() - g * rate, rate * u.scalar(1)) / (rate * u.scalar(2) + 1.f));
    }
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = l1;
        out[2] = l2;
    }
    float first_of_slot(int) const { return initial_accumulator; }
};

} // namespace sinter
