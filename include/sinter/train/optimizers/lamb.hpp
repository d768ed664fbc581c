// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/train/optimizers/adam.hpp>

namespace sinter::inline SINTER_TARGET {

/// LAMB (You et al. 2020), for large batches: r = m^ / (sqrt(v^) + epsilon) + weight_decay * p; p
/// -= rate * |p| / |r| * r with the norms of the whole tensor, whose ratio is 1 where either is 0.
/// The paper's form, the decay within the ratio, and its epsilon. (Keras' Lamb decays apart from
/// it, and its epsilon is 1e-7.)
struct lamb {
    schedule learning_rate = 1e-3f;
    float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-6f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { detail::each_adam_setting(*this, f); }
    static constexpr int slots = 2, n_scalars = 8;
    static constexpr const char* memory = "adam";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), r = detail::adam_step(u, u.gradient()) + p * u.scalar(6);
        const tensor own = sqrt(u.sum_of_squares(p)), its = sqrt(u.sum_of_squares(r));
        const tensor both = greater(own, 0.f) * greater(its, 0.f);
        const tensor ratio = both * (own / maximum(its, 1e-20f)) + (1.f - both);
        u.set_parameter(p - r * (ratio * u.scalar(7)));
    }
    void scalars(std::int64_t step, float* out) const {
        detail::adam_scalars(1.f, beta1, beta2, epsilon, step, out);
        out[6] = weight_decay;
        out[7] = learning_rate.at(step);
    }
};

} // namespace sinter
