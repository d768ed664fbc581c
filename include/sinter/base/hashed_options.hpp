// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

namespace sinter {

/// What happens to a key that is new when a hashed table has its most rows.
enum class when_full : std::uint8_t {
    refuse,   ///< it gets none: it is looked up as what it would begin with, its gradients are dropped and counted
    evict     ///< it gets the row of the key that no update has named for the longest time
};

/// What is kept of a table of 64-bit keys (hashed_embedding). Each server has its share of the
/// keys, and of `most_rows`.
struct hashed_options {
    int most_rows = 1 << 20;   ///< of all servers together
    int admit_after = 1;       ///< 2: the second update that names a key makes its row; gradients before are left out
    int expire_after = 0;      ///< a row is given up when no update has named it for so many global steps; 0: never
    when_full full = when_full::refuse;

    constexpr bool operator==(const hashed_options&) const = default;
};

} // namespace sinter
