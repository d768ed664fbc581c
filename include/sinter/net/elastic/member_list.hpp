// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::wire {

/// One process of an elastic job.
struct member_entry {
    int slot = -1;                ///< its number among the tasks that train, in the roster
    std::uint64_t incarnation = 0;  ///< drawn when it started: a process that is started again is another one
    std::int64_t progress = 0;    ///< how far it was when the list was made: see progress_of()
    bool same(const member_entry& o) const { return slot == o.slot && incarnation == o.incarnation; }
    bool operator==(const member_entry&) const = default;
};

/// Operations of the session that a member has completed, and whether it has the model's state
/// (a member that has just joined has not), in one number.
constexpr std::int64_t progress_of(std::int64_t done, bool healed) { return 2 * done + healed; }
constexpr std::int64_t done_of(std::int64_t progress) { return progress >> 1; }
constexpr bool is_healed(std::int64_t progress) { return progress & 1; }

/// Who is in an elastic job from one change of its members to the next: by slot, so that the place
/// in the list is the rank. Epochs count from 1; 0 is no list.
struct member_list {
    std::int64_t epoch = 0;
    std::vector<member_entry> entries;

    SINTER_COLD const member_entry* find(int slot, std::uint64_t incarnation) const {
        for (const member_entry& s : entries)
            if (s.slot == slot && s.incarnation == incarnation) return &s;
        return nullptr;
    }
    /// Whether those of whom `in` is true may decide for all: more than half, or half with the
    /// first. Any two sets that may have a member in common.
    template <class In>
    SINTER_COLD bool may_decide(In in) const {
        const auto n = static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), in));
        return 2 * n > entries.size() || (2 * n == entries.size() && n > 0 && in(entries[0]));
    }
    bool operator==(const member_list&) const = default;
};

} // namespace sinter::wire
