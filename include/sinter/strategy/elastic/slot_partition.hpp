// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/elastic/slot_parts.hpp>
#include <sinter/strategy/synchronous/core.hpp>
#include <algorithm>
#include <string>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Where each member updates, and has slots of, its part of the weights and that of the member before it
/// (sharded_update): who has which, as members change. Core: the synchronous_core.
template <class Core, bool = Core::copied>
class slot_partition {
public:
    explicit slot_partition(Core& core) : core_(core) {}

    /// The job begins with this group.
    void begin(std::int64_t epoch) {
        const membership me = core_.members.place();
        division_.begin({epoch, me.index, me.count});
        core_.values.keep(division_.parts());
    }
    /// This file has all that a run has.
    void checkpoint_saved(const std::string& file) { checkpoint_ = file; }
    /// In a new group, before anything else: who has which parts. `done`: operations of this member; `has_state`: it
    /// has the model's state; `most`: members at once. Returns nothing, or why the job cannot go on.
    SINTER_COLD std::string meet(std::int64_t done, bool has_state, int most) {
        std::string lost =
            division_.meet(*core_.members, done, has_state, static_cast<int>(core_.commit.stage()), most);
        if (!lost.empty())
            return lost + (checkpoint_.empty() ? "; no checkpoint has been written since this process began"
                                               : "; go on from the last checkpoint, " + checkpoint_);
        core_.values.keep(division_.parts());
        return {};
    }
    /// Behind it: completes a step whose sums all of the last group had, where some of them have updated. True: the
    /// step is this member's.
    SINTER_COLD bool settle(std::int64_t done, bool has_state) {
        std::int64_t most = 0;
        for (const slot_record& r : division_.records())
            if (r.healed) most = std::max(most, r.done);
        bool agreed = false;
        for (const slot_record& r : division_.records())
            agreed = agreed || (r.healed && r.done == most && r.stage == static_cast<int>(commit_stage::updated));
        if (has_state && core_.commit.stage() == commit_stage::summed && (done < most || agreed)) core_.commit.follow();
        if (agreed)
            division_.gather_weights(*core_.members, core_.replicas.first().host({compiler::space::parameter, 0}));
        return agreed && has_state && done == most;
    }
    /// Behind it: where members have changed, so do their parts of the slots.
    SINTER_COLD void divide(std::int64_t epoch) {
        auto& replica = core_.replicas.first();
        division_.divide(*core_.members, epoch, replica.host({compiler::space::slot, 0}),
                         [&](std::int64_t first, std::int64_t n) { replica.clear_slots(first, n); });
        core_.values.keep(division_.parts());
    }

private:
    Core& core_;
    slot_parts<typename Core::P0> division_;
    std::string checkpoint_;   ///< the last file that has all that a run has
};

/// Where each updates all weights.
template <class Core>
class slot_partition<Core, false> {
public:
    explicit slot_partition(Core&) {}
    void begin(std::int64_t) {}
    void checkpoint_saved(const std::string&) {}
    static std::string meet(std::int64_t, bool, int) { return {}; }
    static constexpr bool settle(std::int64_t, bool) { return false; }
    void divide(std::int64_t) {}
};

} // namespace sinter::strategy_parts
