// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
/// How many times the rate has fallen: evenly (b = 0) or in integers.
inline double decays(const schedule& s, std::int64_t step) {
    const double x = static_cast<double>(step - s.warmup) / static_cast<double>(s.steps);
    return s.b > 0 ? __builtin_floor(x) : x;
}
inline float exponential_rate(const schedule& s, std::int64_t step) {
    return static_cast<float>(static_cast<double>(s.peak) * __builtin_pow(static_cast<double>(s.a), decays(s, step)));
}
inline float inverse_time_rate(const schedule& s, std::int64_t step) {
    return static_cast<float>(static_cast<double>(s.peak) / (1 + static_cast<double>(s.a) * decays(s, step)));
}
constexpr schedule decaying(float peak, std::int64_t steps, float a, bool staircase, schedule::shape shape,
                            const char* name) {
    need_steps(steps, name);
    if (!(a >= 0.f)) throw option_error("factor", name, "below 0", "0 or more");
    schedule s(peak);
    s.steps = steps;
    s.a = a;
    s.b = staircase ? 1.f : 0.f;
    s.at_step = shape;
    return s;
}
} // namespace detail

/// peak * factor^(step / steps): multiplied by `factor` every `steps` steps, evenly or, as a
/// staircase, at once (Keras' ExponentialDecay; PyTorch's ExponentialLR has steps = 1). It begins
/// behind a warm-up. option_error where steps < 1 or factor < 0.
constexpr schedule exponential(float peak, std::int64_t steps, float factor, bool staircase = false) {
    return detail::decaying(peak, steps, factor, staircase, &detail::exponential_rate, "exponential");
}
/// peak / (1 + factor * step / steps), evenly or as a staircase (Keras' InverseTimeDecay). It
/// begins behind a warm-up. option_error where steps < 1 or factor < 0.
constexpr schedule inverse_time(float peak, std::int64_t steps, float factor, bool staircase = false) {
    return detail::decaying(peak, steps, factor, staircase, &detail::inverse_time_rate, "inverse_time");
}

} // namespace sinter
