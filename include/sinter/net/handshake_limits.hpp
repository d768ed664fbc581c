// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstddef>

namespace sinter::inline SINTER_ORDINARY::wire {

/// Limits on connections whose handshake is not done.
struct handshake_limits {
    double handshake_within = 5;   // seconds; dialled connections have as many
    std::size_t most_pending = 64;   // beyond it the one that waits longest is closed
};

} // namespace sinter::wire
