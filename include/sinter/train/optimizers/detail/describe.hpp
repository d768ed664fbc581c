// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/description.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/schedules/schedule.hpp>

/// What members of a job must share of an optimizer: all its numbers.
namespace sinter::inline SINTER_TARGET::detail {

/// A number, or what tells a schedule from others: its numbers and some of its rates. Of a user's function that is
/// rates alone, at steps below `end`: others it need not know.
SINTER_COLD inline void describe_schedule(description& d, const schedule& s, std::int64_t end) {
    if (!s.at_step && !s.custom && s.warmup == 0) return void(d("learning_rate", s.peak));
    std::string rates;
    const std::int64_t last = s.custom && end < 1'000'001 ? end - 1 : 1'000'000;
    for (std::int64_t step = 0; step <= last; step = step ? 10 * step : 1)
        rates += to_text({rates.empty() ? "" : ", ", base::number_text(s.at(step)), " at step ", step});
    d("learning_rate", rates.empty() ? "a function" : rates)("learning_rate, warm-up", s.warmup);
    if (s.custom) return;
    d("learning_rate, peak", s.peak)("learning_rate, end", s.end)("learning_rate, steps", s.steps);
    if (s.a != 0 || s.b != 0)
        d("learning_rate, shape", to_text({base::number_text(s.a), ", ", base::number_text(s.b)}));
    for (int i = 0; i < s.pieces; ++i)
        d(to_text({"learning_rate, piece ", i}), to_text({base::number_text(s.rate[i]), " from step ", s.from[i]}));
}
/// Its learning rate and settings (each_setting), those of what it wraps and of its groups among them, as settings of
/// `name`. An optimizer with further numbers has `void describe(description&) const`. `end`: of the training's steps.
template <class O>
SINTER_COLD void describe_optimizer(description& d, const O& o, std::int64_t end, const std::string& name) {
    d.of(name);
    if constexpr (requires { schedule(o.learning_rate); }) describe_schedule(d, o.learning_rate, end);
    if constexpr (requires { o.each_setting(setting_call(nullptr, &d)); })
        o.each_setting(setting_call(
            [](void* to, const char* setting, float value, allowed) {
                (*static_cast<description*>(to))(setting, value);
            },
            &d));
    if constexpr (base::tells_settings<O>) o.describe(d);
    if constexpr (requires { o.optimizer; }) describe_optimizer(d, o.optimizer, end, name + ", within");
    if constexpr (requires { o.others; o.members; }) {
        describe_optimizer(d, o.others, end, name);
        int group = 0;
        std::apply(
            [&](const auto&... g) {
                (describe_optimizer(d, g.optimizer, end, to_text({name, ", group ", ++group})), ...);
            },
            o.members);
    }
}

} // namespace sinter::detail
