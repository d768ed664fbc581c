// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
inline float one_cycle_rate(const schedule& s, std::int64_t step) {
    const double last = static_cast<double>(s.steps - s.warmup - 1), top = static_cast<double>(s.b) * (last + 1) - 1;
    const double t = static_cast<double>(step - s.warmup);
    if (last == 0 && t <= 0) return s.peak;   // a cycle of one step
    const float first = s.peak / s.a;
    if (t <= top) return first + (s.peak - first) * (1.f - (top > 0 ? half_cosine(t / top) : 0.f));
    return s.end + (s.peak - s.end) * half_cosine(t < last ? (t - top) / (last - top) : 1.);
}
} // namespace detail

/// One cycle (Smith and Topin 2018) over `steps` steps: along half a cosine from peak /
/// first_divisor up to `peak` during the share `rising` of them, then down to peak / first_divisor
/// / last_divisor, where it stays. PyTorch's OneCycleLR and its defaults, for the rate alone
/// (momentum is not cycled); a cycle of one step is its peak. option_error where steps < 1, `rising`
/// is not from 0 to 1, or a divisor is not above 0.
constexpr schedule one_cycle(float peak, std::int64_t steps, float rising = 0.3f, float first_divisor = 25.f,
                             float last_divisor = 1e4f) {
    detail::need_steps(steps, "one_cycle");
    if (!(rising >= 0.f && rising <= 1.f)) throw option_error("share of rising steps", "one_cycle", {}, "0 to 1");
    if (!(first_divisor > 0.f && last_divisor > 0.f))
        throw option_error("divisors", "one_cycle", "0 or less", "more than 0");
    schedule s(peak);
    s.at_step = &detail::one_cycle_rate;
    s.steps = steps;
    s.end = peak / first_divisor / last_divisor;
    s.a = first_divisor;
    s.b = rising;
    return s;
}

} // namespace sinter
