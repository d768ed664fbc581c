// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY {

/// What came of a step.
struct step_result {
    float loss = 0;        ///< mean loss of the batch, before the update
    bool applied = true;   ///< false: the loss is not finite, and no parameter, state or slot has changed
    bool stop = false;     ///< some member has asked to stop (step_values::stop): all receive that with the same step
    bool save = false;     ///< some member has asked to save, likewise
    std::int64_t examples = -1;   ///< of the whole batch, over all members; -1: those of this member's batch
    /// What the loss is a mean over, likewise; NaN: local()'s loss_weight(). Weights may be negative.
    double loss_weight = __builtin_nan("");
    bool passed = false;          ///< the other members have made this step without this one, which has no loss of it
    bool join = false;            ///< some member knows of a process that waits to join the job
    std::int64_t global_step = -1;   ///< the model's steps, where others count them, too; -1: one more if applied
};

} // namespace sinter
