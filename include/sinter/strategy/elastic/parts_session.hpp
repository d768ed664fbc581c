// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/elastic/image_session.hpp>
#include <sinter/strategy/elastic/slot_parts.hpp>
#include <algorithm>
#include <string>

namespace sinter::inline SINTER_TARGET::detail {

/// A session whose members may change although each updates, and has slots of, its part of the
/// weights and that of the member before it (sharded_update). Where each updates all weights
/// nothing of it is compiled.
template <class Programs, other_processes Others>
class parts_session : public image_session<Programs, Others> {
    using base = image_session<Programs, Others>;
    using P0 = typename Programs::template training<0>;

public:
    /// The name of the last file that has all that a run has.
    void checkpoint_saved(const std::string& file)
        requires base::Copied
    {
        checkpoint_ = file;
    }

protected:
    using base::image_session;

    /// The job begins with this group.
    void begin_parts(std::int64_t epoch) {
        if constexpr (base::Copied) {
            division_.begin({epoch, base::member().index, base::member().count});
            base::kept_ = division_.parts();
        }
    }
    /// In a new group, before anything else: who has which parts. `done`: operations of this
    /// member; `healed`: it has the model's state; `most`: members at once. Returns nothing, or why
    /// the job cannot go on.
    SINTER_COLD std::string meet_keepers(std::int64_t done, bool healed, int most) {
        if constexpr (base::Copied) {
            std::string lost =
                division_.meet(*base::communicator(), done, healed, static_cast<int>(base::stage()), most);
            if (!lost.empty())
                return lost + (checkpoint_.empty() ? "; no checkpoint has been written since this process began"
                                                   : "; go on from the last checkpoint, " + checkpoint_);
            base::kept_ = division_.parts();
        }
        return {};
    }
    /// Behind it: completes a step whose sums all of the last group had, where some of them have
    /// updated. True: the step is this member's.
    SINTER_COLD bool settle(std::int64_t done, bool healed) {
        if constexpr (base::Copied) {
            auto& c = *base::communicator();
            std::int64_t most = 0;
            for (const slot_record& r : division_.records())
                if (r.healed) most = std::max(most, r.done);
            bool agreed = false;
            for (const slot_record& r : division_.records())
                agreed = agreed || (r.healed && r.done == most && r.stage == static_cast<int>(commit_stage::updated));
            if (healed && base::stage() == commit_stage::summed && (done < most || agreed)) base::follow_commit();
            if (agreed) division_.gather_weights(c, base::local().at({compiler::space::parameter, 0}));
            return agreed && healed && done == most;
        }
        return false;
    }
    /// Behind it: where members have changed, so do their parts of the slots.
    SINTER_COLD void divide(std::int64_t epoch) {
        if constexpr (base::Copied) {
            division_.divide(*base::communicator(), epoch, base::local().at({compiler::space::slot, 0}),
                          [&](std::int64_t first, std::int64_t n) { base::local().clear_slots(first, n); });
            base::kept_ = division_.parts();
        }
    }

private:
    std::conditional_t<base::Copied, slot_parts<P0>, char> division_{};
    std::conditional_t<base::Copied, std::string, char> checkpoint_{};
};

} // namespace sinter::detail
