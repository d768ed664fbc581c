// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
inline float polynomial_rate(const schedule& s, std::int64_t step) {
    const float left = static_cast<float>(__builtin_pow(1. - s.progress(step), static_cast<double>(s.a)));
    return s.end + (s.peak - s.end) * left;
}
} // namespace detail

/// From `peak` to `end` over `steps` steps along (1 - step / steps)^power, then `end` (Keras'
/// PolynomialDecay, PyTorch's PolynomialLR with end = 0). Power 1 is a straight line. option_error
/// where steps < 1, end < 0 or power < 0.
constexpr schedule polynomial(float peak, std::int64_t steps, float end = 0.f, float power = 1.f) {
    detail::need_steps(steps, "polynomial");
    detail::need_later_rate(end, "polynomial");
    if (!(power >= 0.f)) throw option_error("power", "polynomial", "below 0", "0 or more");
    schedule s(peak);
    s.at_step = &detail::polynomial_rate;
    s.steps = steps;
    s.end = end;
    s.a = power;
    return s;
}

} // namespace sinter
