// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/communicator.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// Which part of each bucket of weights a member updates, and keeps the optimizer's slots of: that
/// of its own number among `members` equal ones. `copies`: also that of the member before it, so
/// that the slots of a member that dies are still there.
struct kept_parts {
    int member = 0, members = 1;
    bool copies = false;

    int count() const { return copies && members > 1 ? 2 : 1; }
    /// The i-th of them, of n floats: first the member's own, then the copy.
    collective::part_range part(std::int64_t n, int i) const {
        return collective::part_of(n, (member + members - i) % members, members);
    }
    bool keeps(int part) const { return part == member || (copies && (part + 1) % members == member); }
};

} // namespace sinter::session_parts
