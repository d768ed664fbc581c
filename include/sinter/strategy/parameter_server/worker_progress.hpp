// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Where a worker of a job with servers is in a run.
struct worker_progress {
    bool begun = false;     ///< training has begun: servers have the values
    bool resting = false;   ///< it makes no steps for a while, and is not waited for
    bool stale = false;     ///< steps have been made since its values were read
    bool is_old = false;    ///< not all values here are the servers': all are to be read
    std::int64_t max_steps = 0;
    std::int64_t steps = 0;      ///< its own
    std::int64_t consumed = 0;   ///< clocks that it has had a batch of
    std::int64_t before_own = 0;      ///< updates that all had made before its first step
    std::int64_t before_clocks = 0;   ///< updates of the checkpoint that the servers began with
};

} // namespace sinter::strategy_parts
