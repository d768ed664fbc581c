// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/shard_lists.hpp>
#include <array>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// How far this member is in a step whose update it makes a part of.
enum class commit_stage : std::uint8_t {
    none,      ///< sums are being made: nothing has changed
    summed,    ///< this member has all sums; whether all others have, it does not know yet. Nothing has changed
    updated    ///< all members had all sums, and this one has made its part of the update, or is about to
};

/// The replicas of a process, and its lists; under other_processes::update_copied_parts also the
/// moment from which on a step counts, which is a barrier behind all sums and before the first
/// change. A step that fails before it has changed nothing. One that fails behind it can be
/// completed by any members that are left: each of them had all sums that its part of the update
/// needs.
template <class Programs, other_processes Others>
class step_commit : public shard_lists<Programs, Others> {
    using replicas = shard_lists<Programs, Others>;

protected:
    using replicas::Copied, replicas::members_, replicas::lists_, replicas::shards_, replicas::units_, replicas::at,
        replicas::numbers_;
    using replicas::shard_lists;

    float round_weight_ = 0;   ///< of the update that is committed, where steps are accumulated

    /// What all shards have gathered in a round is divided by. `add_others(sums, how many)`: those
    /// of other processes.
    template <int I, class F>
    void sum_round_weight(F add_others) {
        using P = typename replicas::template training<I>;
        double sum = 1;   // of a loss that is no mean
        if constexpr (reduction_of<typename P::request::loss>() != reduction::sum) {
            for (int i = 0; i < shards_; ++i) {
                float w = 0;
                units_[at(i)].read(P::v.round_weight, &w, 1);
                numbers_[at(i)] = static_cast<double>(w);
            }
            sum = detail::tree_sum(numbers_.data(), shards_);
            add_others(&sum, 1);
        }
        round_weight_ = static_cast<float>(sum);
        for (int i = 0; i < (replicas::shared ? 1 : shards_); ++i)
            units_[at(i)].write(P::v.round_weight, &round_weight_, 1);
    }
    detail::commit_stage stage() const { return Copied ? stage_ : detail::commit_stage::none; }
    bool has_updated() const { return stage() == detail::commit_stage::updated; }
    /// Hands the sums of this member's parts to the one that keeps the copies of their slots.
    /// Returns when all members have all that they need. `sent`: a ticket for each bucket.
    /// `update_again(v)`: makes this member's part of the update, where it has failed to learn that
    /// all have.
    template <int I, class Session>
    void commit(const step_values& v, std::vector<collective::ticket>& sent,
                void (Session::*update_again)(const step_values&)) {
        using P = typename replicas::template training<I>;
        if (!members_ || !replicas::kept_.copies) return;
        if constexpr (P::v.reach == compiler::update_reach::own_gradient) {   // else everybody has all sums
            for (int k = 0; k < P::v.n_buckets; ++k)
                if (detail::of_program::in_parts<P>(k))
                    sent[replicas::at(k)] =
                        members_->start({.what = collective::kind::shift, .step = v.step, .bucket = k},
                                        this->template place<I>(0, P::v.buckets[k].at), P::v.buckets[k].floats, true);
            for (int k = 0; k < P::v.n_buckets; ++k)
                if (detail::of_program::in_parts<P>(k)) members_->wait(sent[replicas::at(k)]);
        }
        values_ = &v;
        update_again_ = static_cast<void (step_commit::*)(const step_values&)>(update_again);
        stage_ = detail::commit_stage::summed;
        members_->barrier(v.step);
        stage_ = detail::commit_stage::updated;
    }
    /// The step is over: it has counted, or is to be made again.
    void end_commit() {
        if constexpr (Copied) {
            stage_ = detail::commit_stage::none;
            for (auto& l : saved_lists_) l.clear();
        }
    }
    /// Others are known to have updated: so does this member.
    SINTER_COLD void follow_commit() {
        (this->*update_again_)(*values_);
        stage_ = detail::commit_stage::updated;
    }
    /// Before lists are made anew: those of a step that may have to be followed.
    void save_lists() {
        if (stage() != detail::commit_stage::summed || has_saved_lists()) return;
        saved_lists_.swap(lists_);
    }

private:
    detail::commit_stage stage_ = detail::commit_stage::none;
    const step_values* values_ = nullptr;   ///< of the step that is being made
    void (step_commit::*update_again_)(const step_values&) = nullptr;
    std::array<std::vector<detail::list_exchange>, std::size_t{Programs::n_training}> saved_lists_;

    bool has_saved_lists() const {
        for (const auto& l : saved_lists_)
            if (!l.empty()) return true;
        return false;
    }
};

} // namespace sinter::detail
