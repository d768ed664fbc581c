// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/schedules/schedule.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
inline float cosine_restarts_rate(const schedule& s, std::int64_t step) {
    double x = static_cast<double>(step - s.warmup) / static_cast<double>(s.steps), peak = static_cast<double>(s.peak);
    const double longer = static_cast<double>(s.a), end = static_cast<double>(s.end);
    if (longer == 1.) {
        const double period = __builtin_floor(x);
        peak *= __builtin_pow(static_cast<double>(s.b), period);
        x -= period;
    } else {   // periods of 1, longer, longer^2, ...: a few dozen at most are ever gone through
        double length = 1;
        for (; x >= length && length < 1e18; length *= longer) {
            x -= length;
            peak *= static_cast<double>(s.b);
        }
        x /= length;
    }
    return static_cast<float>(end + (peak - end) * static_cast<double>(half_cosine(x)));
}
} // namespace detail

/// Half a cosine from `peak` to `end`, again and again: the first time over `steps` steps, then
/// each time `longer` times as long and from `lower` times the peak (Loshchilov and Hutter 2017,
/// SGDR; Keras' CosineDecayRestarts with alpha = end / peak and end = 0; PyTorch's
/// CosineAnnealingWarmRestarts with lower = 1). It begins behind a warm-up. option_error where
/// steps < 1, longer < 1, lower < 0 or end < 0.
constexpr schedule cosine_restarts(float peak, std::int64_t steps, float longer = 2.f, float lower = 1.f,
                                   float end = 0.f) {
    detail::need_steps(steps, "cosine_restarts");
    detail::need_later_rate(end, "cosine_restarts");
    if (!(longer >= 1.f)) throw option_error("growth of periods", "cosine_restarts", "below 1", "1 or more");
    if (!(lower >= 0.f)) throw option_error("factor of peaks", "cosine_restarts", "below 0", "0 or more");
    schedule s(peak);
    s.at_step = &detail::cosine_restarts_rate;
    s.steps = steps;
    s.end = end;
    s.a = longer;
    s.b = lower;
    return s;
}

} // namespace sinter
