// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/device.hpp>
#include <sinter/strategy/step_result.hpp>
#include <cstdint>

namespace sinter::inline SINTER_TARGET {

/// What a step is run with besides its batch.
struct step_values {
    const float* scalars = nullptr;   ///< what the optimizer's scalars() wrote
    std::uint64_t seed = 0;           ///< of random numbers inside the net
    std::int64_t step = 0;            ///< steps before this one
    runtime::batch_shard shard = {};   ///< which part of a larger batch the batch is; by default all of it
    bool stop = false;                ///< this member asks that all members stop behind this step
    bool save = false;                ///< this member asks that the run be saved behind this step
    bool join = false;                ///< this member knows of a process that waits to join the job
};

} // namespace sinter
