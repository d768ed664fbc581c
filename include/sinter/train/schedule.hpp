// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

namespace sinter {

/// A learning rate as a function of the step (0, 1, 2, ...): a plain float is one that never changes.
struct schedule {
    enum class kind : std::uint8_t { constant, cosine } shape = kind::constant;
    float peak = 0, end = 0;
    std::int64_t warmup = 0, steps = 0;
    float (*custom)(std::int64_t step) = nullptr;   ///< a user's own; the other members are then ignored

    constexpr schedule(float rate = 0.f) : peak(rate) {}
    constexpr schedule(float (*f)(std::int64_t)) : custom(f) {}

    float at(std::int64_t step) const {
        if (custom) return custom(step);
        if (step < warmup) return peak * static_cast<float>(step + 1) / static_cast<float>(warmup);
        if (shape == kind::constant) return peak;
        // A builtin, here and in the optimizers: <cmath> costs every program 0.15 s of build time.
        const std::int64_t done = step - warmup, all = steps - warmup;
        const double x = done >= all ? 1. : static_cast<double>(done) / static_cast<double>(all);
        return end + (peak - end) * static_cast<float>(0.5 * (1. + __builtin_cos(3.14159265358979323846 * x)));
    }
};

/// From `peak` down to `end` along half a cosine over `steps` steps (Loshchilov and Hutter 2017), then `end`.
constexpr schedule cosine(float peak, std::int64_t steps, float end = 0.f) {
    schedule s(peak);
    s.shape = schedule::kind::cosine;
    s.steps = steps;
    s.end = end;
    return s;
}
/// Rises evenly to the schedule's peak over the first `steps` steps, which count among the schedule's own.
constexpr schedule warm_up(std::int64_t steps, schedule then) {
    then.warmup = steps;
    return then;
}

} // namespace sinter
