// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/described_data.hpp>
#include <sinter/train/hooks/hook_calls.hpp>
#include <sinter/train/optimizers/detail/describe.hpp>
#include <sinter/train/options.hpp>

/// What members of a job must share to train one model: all that the result of a synchronous step depends on, but for
/// the program, which they have compared when they met.
namespace sinter::inline SINTER_TARGET::detail {

/// Options and hooks, of which those that do not tell what they are may be one member's alone.
SINTER_COLD inline void describe_training(description& d, const train_options& o, span<const hook_calls> hooks) {
    d.of("train_options")("epochs", o.epochs)("max_steps", o.max_steps)("validation", o.validation != nullptr);
    d("not_finite", static_cast<int>(o.not_finite));
    describe_metrics(d, o.metrics);
    d.of("hooks");
    for (const hook_calls& h : hooks)
        if (h.describe) h.describe(h.hook, d);
}
/// The trainer's own settings and its optimizer's.
template <class Trainer>
SINTER_COLD void describe_model(description& d, Trainer& t, std::int64_t end_of_steps) {
    d.of("model");
    if constexpr (base::tells_settings<Trainer>) t.describe(d);
    describe_optimizer(d, t.optimizer(), end_of_steps, "optimizer");
}
} // namespace sinter::detail
