// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
/// What adam and adamw share: the step along the two moments, both corrected for their start at
/// zero.
constexpr tensor adam_step(update_context& u, tensor g) {
    const tensor m = u.slot(0) + (g - u.slot(0)) * u.scalar(1);
    const tensor v = u.slot(1) + (g * g - u.slot(1)) * u.scalar(3);
    u.set_slot(0, m);
    u.set_slot(1, v);
    return m * u.scalar(0) / (sqrt(v) * u.scalar(4) + u.scalar(5));
}
/// b^t; a library's pow takes a hundredth of a small net's step, and more where the result is no
/// normal number.
inline double to_the_power(double b, std::int64_t t) {
    double r = 1;
    for (; t > 0 && r > 1e-30; t >>= 1, b *= b)
        if (t & 1) r *= b;
    return r;
}
inline void adam_scalars(float rate, float b1, float b2, float epsilon, std::int64_t step, float* out) {
    const std::int64_t t = step + 1;
    out[0] = static_cast<float>(static_cast<double>(rate) / (1. - to_the_power(static_cast<double>(b1), t)));
    out[1] = 1.f - b1;
    out[2] = b2;
    out[3] = 1.f - b2;
    out[4] = static_cast<float>(1. / __builtin_sqrt(1. - to_the_power(static_cast<double>(b2), t)));
    out[5] = divided_by(epsilon);
}
} // namespace detail

/// Adam (Kingma and Ba 2015): m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; p -= rate * m^ /
/// (sqrt(v^) + epsilon) with m^ = m / (1 - b1^t), v^ = v / (1 - b2^t): PyTorch's form, the epsilon
/// outside the root. weight_decay is an L2 penalty.
struct adam {
    schedule learning_rate = 1e-3f;
    float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-7f;
    float weight_decay = 0.f;

    void each_setting(detail::setting_call f) const { detail::each_adam_setting(*this, f); }
    static constexpr int slots = 2, n_scalars = 7;
    static constexpr const char* memory = "adam";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter();
        u.set_parameter(p - detail::adam_step(u, u.gradient() + p * u.scalar(6)));
    }
    void scalars(std::int64_t step, float* out) const {
        detail::adam_scalars(learning_rate.at(step), beta1, beta2, epsilon, step, out);
        out[6] = weight_decay;
    }
};

/// AdamW (Loshchilov and Hutter 2019): Adam, and beside it p -= rate * weight_decay * p.
struct adamw {
    schedule learning_rate = 1e-3f;
    float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
    float weight_decay = 0.01f;

    void each_setting(detail::setting_call f) const { detail::each_adam_setting(*this, f); }
    static constexpr int slots = 2, n_scalars = 7;
    static constexpr const char* memory = "adam";
    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), decayed = p - p * u.scalar(6);
        u.set_parameter(decayed - detail::adam_step(u, u.gradient()));
    }
    void scalars(std::int64_t step, float* out) const {
        const float rate = learning_rate.at(step);
        detail::adam_scalars(rate, beta1, beta2, epsilon, step, out);
        out[6] = rate * weight_decay;
    }
};

} // namespace sinter
