// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
inline float one_cycle_rate(const schedule& s, std::int64_t step) {
    const double last = static_cast<double>(s.steps - s.warmup - 1), top = static_cast<double>(s.b) * (last + 1) - 1;
    const double t = static_cast<double>(step - s.warmup);
    const float first = s.peak / s.a;
    if (t <= top) return first + (s.peak - first) * (1.f - (top > 0 ? half_cosine(t / top) : 0.f));
    return s.end + (s.peak - s.end) * half_cosine(t < last ? (t - top) / (last - top) : 1.);
}
} // namespace detail

/// One cycle (Smith and Topin 2018) over `steps` steps: along half a cosine from peak /
/// first_divisor up to `peak` during the share `rising` of them, then down to peak / first_divisor
/// / last_divisor, where it stays. PyTorch's OneCycleLR and its defaults, for the rate alone
/// (momentum is not cycled).
constexpr schedule one_cycle(float peak, std::int64_t steps, float rising = 0.3f, float first_divisor = 25.f,
                             float last_divisor = 1e4f) {
    schedule s(peak);
    s.at_step = &detail::one_cycle_rate;
    s.steps = steps;
    s.end = peak / first_divisor / last_divisor;
    s.a = first_divisor;
    s.b = rising;
    return s;
}

} // namespace sinter
