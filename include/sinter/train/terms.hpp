// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/described_data.hpp>
#include <sinter/train/hooks/hook_table.hpp>
#include <sinter/train/options.hpp>

/// What members of a job must share to train one model: all that the result of a synchronous step depends on, but for
/// the program, which they have compared when they met.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Options and hooks, of which those that do not tell what they are may be one member's alone.
SINTER_COLD inline void describe_training(description& d, const train_options& o, span<const hook_calls> hooks) {
    d.of("train_options")("epochs", o.epochs)("max_steps", o.max_steps)("validation", o.validation != nullptr);
    d("not_finite", static_cast<int>(o.not_finite));
    describe_metrics(d, o.metrics);
    d.of("hooks");
    for (const hook_calls& h : hooks)
        if (h.describe) h.describe(h.hook, d);
}

} // namespace sinter::training_parts
