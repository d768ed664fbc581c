// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/error.hpp>
#include <cstdint>
#include <string>

namespace sinter::inline SINTER_TARGET {

/// A learning rate as a function of the step (0, 1, 2, ...). A plain float is one that never
/// changes, a function of the step a user's own; the others are made by the functions of
/// train/schedules/, cosine() among them here. Plain data, so that a schedule is a constant as
/// well.
struct schedule {
    static constexpr int most_pieces = 8;
    using function = float (*)(std::int64_t step);
    /// The rate at `step`, which is not below `warmup`. Null: `peak`, always.
    using shape = float (*)(const schedule&, std::int64_t step);

    float peak = 0, end = 0;
    std::int64_t warmup = 0, steps = 0;
    shape at_step = nullptr;
    function custom = nullptr;
    float a = 0, b = 0;                                   ///< what the shape makes of them
    int pieces = 0;                                       ///< of a piecewise schedule
    std::int64_t from[most_pieces] = {};
    float rate[most_pieces] = {};

    constexpr schedule(float rate_ = 0.f) : peak(rate_) {}
    constexpr schedule(function f) : custom(f) {}
    /// A lambda without captures: `sgd{.learning_rate = [](std::int64_t step) { return step < 100 ?
    /// 0.1f : 0.01f; }}`.
    template <class F>
        requires(__is_class(F) && requires(F f) { function{f}; })
    constexpr schedule(F f) : custom(f) {}

    /// During a warm-up a share of the rate with which the schedule goes on; of `peak` where the schedule has ended by
    /// then, as a short trial of a long one does.
    float at(std::int64_t step) const {
        if (step >= warmup) return behind(step);
        const float top = steps > 0 && steps <= warmup ? peak : behind(warmup);
        return top * static_cast<float>(step + 1) / static_cast<float>(warmup);
    }
    /// How far the schedule has got behind its warm-up: 0 at first, 1 at the end and from there on.
    double progress(std::int64_t step) const {
        const std::int64_t done = step - warmup, all = steps - warmup;
        return done >= all ? 1. : static_cast<double>(done) / static_cast<double>(all);
    }

private:
    float behind(std::int64_t step) const { return custom ? custom(step) : at_step ? at_step(*this, step) : peak; }
};

namespace detail {
/// option_error unless a schedule has a step or more.
constexpr void need_steps(std::int64_t steps, const char* schedule) {
    if (steps < 1) throw option_error("number of steps", schedule, std::to_string(steps), "1 or more");
}
/// option_error unless a rate that a schedule comes to later can train: training looks at the first one itself.
constexpr void need_later_rate(float rate, const char* schedule) {
    if (!(rate >= 0.f && rate <= 3.4028234e38f))
        throw option_error("learning rate", schedule, std::to_string(rate), "0 or more, and finite");
}
/// 1 for x = 0, along half a cosine to 0 for x = 1. A builtin, here and in the optimizers: <cmath>
/// costs every program 0.15 s of build time.
inline float half_cosine(double x) {
    return static_cast<float>(0.5 * (1. + __builtin_cos(3.14159265358979323846 * x)));
}
inline float cosine_rate(const schedule& s, std::int64_t step) {
    const double x = s.progress(step);
    return x > 0 ? s.end + (s.peak - s.end) * half_cosine(x) : s.peak;
}
} // namespace detail

/// From `peak` down to `end` along half a cosine over `steps` steps (Loshchilov and Hutter 2017),
/// then `end`. option_error where steps < 1 or end < 0.
constexpr schedule cosine(float peak, std::int64_t steps, float end = 0.f) {
    detail::need_steps(steps, "cosine");
    detail::need_later_rate(end, "cosine");
    schedule s(peak);
    s.at_step = &detail::cosine_rate;
    s.steps = steps;
    s.end = end;
    return s;
}
/// Before any schedule: rises evenly, over the first `steps` steps, to the rate with which the
/// schedule goes on. They count among the schedule's own: what has a number of steps ends no later
/// (a warm-up that is as long rises to the peak), and pieces and users' functions see steps as ever.
/// 0 steps: no warm-up. option_error for less, and for the warm-up of a warm-up.
constexpr schedule warm_up(std::int64_t steps, schedule then) {
    if (steps < 0) throw option_error("number of steps", "warm_up", std::to_string(steps), "0 or more");
    if (then.warmup > 0) throw option_error("warm-ups", "warm_up", "one within another", "one");
    then.warmup = steps;
    return then;
}

} // namespace sinter
