// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/collective/validated_gather.hpp>
#include <sinter/strategy/synchronous/kept_parts.hpp>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// How slots were divided among the members of a group, and which of them this one was.
struct slot_division {
    std::int64_t epoch = 0;   ///< of the group; 0: none
    std::int32_t member = 0, members = 0;

    kept_parts parts() const { return {member, members, true}; }
    bool keeps(int part) const { return epoch > 0 && parts().keeps(part); }
};
/// What a member sends about itself in a new group.
struct slot_record {
    std::int64_t done = 0;   ///< operations
    std::int32_t healed = 0, stage = 0;   ///< wire::is_healed; commit_stage
    slot_division has[2];    ///< whose parts it has: one of them but while slots are divided anew
};

/// cluster_error, which names the member, unless what it sends about itself can be: `members` are the
/// most that the job ever has at once.
SINTER_COLD SINTER_APART void need_record(const slot_record& r, int member, int members);

} // namespace sinter::session_parts

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY::session_parts {
SINTER_COLD SINTER_APART void need_record(const slot_record& r, int member, int members) {
    constexpr const char* operation = "telling who has which slots";
    const auto need = [&](const char* what, std::int64_t got, std::int64_t least, std::int64_t most) {
        collective::need_sent(member, operation, what, got, least, most);
    };
    constexpr std::int64_t far = std::int64_t{1} << 60;
    need("operations", r.done, 0, far);
    need("as whether it is healed", r.healed, 0, 1);
    need("as its stage", r.stage, 0, 2);
    for (const slot_division& d : r.has) {
        need("as an epoch", d.epoch, 0, far);
        if (d.epoch == 0) continue;
        need("members", d.members, 1, members);
        need("as its number", d.member, 0, d.members - 1);
    }
}
} // namespace sinter::inline SINTER_ORDINARY::session_parts
#endif
