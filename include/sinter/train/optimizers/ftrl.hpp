// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/div.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/optimizers/detail/shrink.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

/// FTRL-Proximal (McMahan et al. 2013): z += g - (sqrt(n + g^2) - sqrt(n)) / rate * p; n += g^2; p
/// = 0 where |z| <= l1, else (sign(z) l1 - z) / ((beta + sqrt(n)) / rate + 2 l2). Keras' Ftrl with
/// its power -0.5 and its defaults, its l2 shrinkage left out. (The paper's l2 is twice this one.)
/// A weight follows from n and z alone: its first value is gone after the first step, and where no
/// gradient has reached it, so that z is 0, it becomes 0. (Rows of a table that no batch has named
/// stay.)
struct ftrl {
    schedule learning_rate = 1e-3f;
    float initial_accumulator = 0.1f;
    float l1 = 0.f, l2 = 0.f, beta = 0.f;

    void each_setting(detail::setting_call f) const {
        f("initial_accumulator", initial_accumulator, detail::allowed::not_negative);
        f("l1", l1, detail::allowed::not_negative);
        f("l2", l2, detail::allowed::not_negative);
        f("beta", beta, detail::allowed::not_negative);
    }
    static constexpr int slots = 2, n_scalars = 3;   // n, z
    static constexpr bool divides_by_rate = true;    ///< a rate of 0 is refused
    static constexpr const char* memory = "ftrl";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient(), n = u.slot(0) + g * g, root = sqrt(n);
        const tensor z = u.slot(1) + g - (root - sqrt(u.slot(0))) * u.scalar(0) * p;
        u.set_slot(0, n);
        u.set_slot(1, z);
        // the columns that pad packed weights have n = 0: zero over something
        u.set_parameter(-detail::shrink(z, u.scalar(1)) / maximum(root * u.scalar(0) + u.scalar(2), 1e-30f));
    }
    void scalars(std::int64_t step, float* out) const {
        const float rate = learning_rate.at(step);
        out[0] = 1.f / rate;
        out[1] = l1;
        out[2] = beta / rate + 2.f * l2;
    }
    float first_of_slot(int slot) const { return slot == 0 ? initial_accumulator : 0.f; }
};

} // namespace sinter
