// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What a server has counted of one worker.
struct worker_counters {
    std::int64_t applied = 0;      ///< pushes that are in the values
    std::int64_t staged = 0;       ///< that wait for their clock
    std::int64_t dropped = 0;      ///< that came after their clock, or were outdated
    std::int64_t outdated = 0;     ///< computed from values that the chief has overwritten since
    std::int64_t repeated = 0;     ///< that had been taken already, and were sent again
    std::int64_t not_finite = 0;
    std::int64_t torn = 0;         ///< of which only a part came
    std::int64_t connections = 0;
    std::int64_t bytes_in = 0, bytes_out = 0;   ///< of payloads
    std::int64_t staleness_sum = 0, staleness_max = 0;
    double steps_per_second = 0;   ///< over the last seconds
};

/// What became of the keys of one table.
struct row_counts {
    std::int64_t rows = 0;       ///< that there are
    std::int64_t made = 0;       ///< in all
    std::int64_t waiting = 0;    ///< gradients left out because their key had not been seen often enough
    std::int64_t refused = 0;    ///< because the table was full
    std::int64_t evicted = 0, expired = 0;   ///< rows given up
};

/// What a client has counted.
struct client_counters {
    std::int64_t pushes = 0, dropped = 0, repeated = 0, reconnections = 0;
    std::int64_t outdated = 0;   ///< of those that were dropped
    std::int64_t bytes_out = 0, bytes_in = 0;
    std::int64_t staleness_sum = 0, staleness_max = 0;
};

} // namespace sinter::parameter_servers
