// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/kept_parts.hpp>
#include <sinter/strategy/synchronous/member_group.hpp>
#include <sinter/strategy/synchronous/replica_set.hpp>
#include <functional>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// How far this member is in a step whose update it makes a part of.
enum class commit_stage : std::uint8_t {
    none,      ///< sums are being made: nothing has changed
    summed,    ///< this member has all sums; whether all others have, it does not know yet. Nothing has changed
    updated    ///< all members had all sums, and this one has made its part of the update, or is about to
};

/// Under other_processes::update_copied_parts: the moment from which on a step counts, which is a barrier behind all
/// sums and before the first change. A step that fails before it has changed nothing. One that fails behind it can be
/// completed by any members that are left: each of them had all sums that its part of the update needs.
class commit_barrier {
public:
    commit_stage stage() const { return stage_; }
    bool has_updated() const { return stage_ == commit_stage::updated; }

    /// Hands the sums of this member's parts to the one that keeps the copies of their slots. Returns when all members
    /// have all that they need. `sent`: a ticket for each bucket. `update`: makes this member's part of the update,
    /// where it has failed to learn that all have.
    template <int I, class Programs>
    void commit(replica_set<Programs>& replicas, collective::communicator& members, std::int64_t step,
                std::vector<collective::ticket>& sent, std::function<void()> update) {
        using P = typename replica_set<Programs>::template training<I>;
        const auto at = [](int k) { return static_cast<std::size_t>(k); };
        if constexpr (P::v.reach == compiler::update_reach::own_gradient) {   // else everybody has all sums
            for (int k = 0; k < P::v.n_buckets; ++k)
                if (of_program::in_parts<P>(k))
                    sent[at(k)] =
                        members.start({.what = collective::kind::shift, .step = step, .bucket = k},
                                      replicas.template place<I>(0, P::v.buckets[k].at), P::v.buckets[k].floats, true);
            for (int k = 0; k < P::v.n_buckets; ++k)
                if (of_program::in_parts<P>(k)) members.wait(sent[at(k)]);
        }
        update_ = std::move(update);
        stage_ = commit_stage::summed;
        members.barrier(step);
        stage_ = commit_stage::updated;
    }
    /// Others are known to have updated: so does this member.
    SINTER_COLD void follow() {
        update_();
        stage_ = commit_stage::updated;
    }
    /// The step is over: it has counted, or is to be made again.
    void end() { stage_ = commit_stage::none; }

private:
    commit_stage stage_ = commit_stage::none;
    std::function<void()> update_;   ///< of the step that is being made
};

} // namespace sinter::strategy_parts
