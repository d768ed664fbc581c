// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/member_group.hpp>
#include <sinter/strategy/synchronous/replica_set.hpp>
#include <sinter/strategy/synchronous/same_batch.hpp>
#include <array>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The numbers of a step that are added up over its shards and members: its loss, whether that is finite, what members
/// ask of each other.
template <class Programs, bool Distributed>
class step_totals {
public:
    step_totals(replica_set<Programs>& replicas, member_group<Distributed>& members)
        : replicas_(replicas), members_(members) {}

    /// A step begins, of a batch that all share.
    void begin_shared(const step_values& v, int examples, int shards) {
        begin(v);
        examples_ = examples, filled_ = std::min(examples, shards);
        x_[count_of_examples] = examples, x_[count_of_shards] = static_cast<double>(examples) * examples;
    }
    /// A step begins, for which each member has a batch of its own, this one of so many examples: all know then how
    /// many there are, and what members ask.
    void begin_own(const step_values& v, int examples, int shards) {
        begin(v);
        x_[count_of_examples] = examples;
        x_[count_of_shards] = std::min(examples, shards);
        members_.sum_now(x_.data(), n, v.step);
        examples_ = static_cast<std::int64_t>(x_[count_of_examples]);
        filled_ = static_cast<int>(x_[count_of_shards]);
    }
    std::int64_t examples() const { return examples_; }   ///< of the whole batch
    int filled() const { return filled_; }   ///< shards that have examples, over all members

    bool started() const { return started_; }
    /// Once this process's shards have their losses. `more`: other operations follow at once.
    void start(const step_values& v, bool more) {
        x_[loss_] = replicas_.sum([&](int i) { return static_cast<double>(replicas_.shard(i).loss); });
        x_[not_finite] = replicas_.sum([&](int i) { return replicas_.shard(i).finite ? 0. : 1.; });
        x_[weight] = replicas_.sum([&](int i) { return replicas_[i].loss_weight(); });
        started_ = true;
        if constexpr (Distributed)
            if (members_) ticket_ = members_.start_sum(x_.data(), members_.per_worker() ? stop : n, v.step, more);
    }
    /// Whether the step is to be applied. mismatch_error on every member where they have stepped on different batches.
    void wait(const step_values& v) {
        if constexpr (Distributed)
            if (members_) {
                members_->wait(ticket_);
                if (!members_.per_worker()) need_one_batch(*members_, &x_[count_of_examples], examples_, v.step);
            }
        applied_ = x_[not_finite] == 0 && is_finite(static_cast<float>(x_[loss_]));
    }
    bool applied() const { return applied_; }
    double loss() const { return x_[loss_]; }

    step_result result() const { return result(static_cast<float>(x_[loss_]), applied_); }
    /// Of a step for which nobody had an example.
    step_result nothing() const { return result(0, false); }

private:
    /// The last two: of a shared batch its size, which all must have, and its square.
    enum number { loss_, not_finite, weight, stop, save, join, count_of_examples, count_of_shards, n };

    replica_set<Programs>& replicas_;
    member_group<Distributed>& members_;
    std::array<double, n> x_{};
    std::int64_t examples_ = 0;
    int filled_ = 0;
    bool started_ = false, applied_ = false;
    collective::ticket ticket_ = 0;

    void begin(const step_values& v) {
        x_ = {};
        x_[stop] = v.stop, x_[save] = v.save, x_[join] = v.join;
        started_ = false, applied_ = true;
    }
    step_result result(float mean_loss, bool applied) const {
        return {.loss = mean_loss, .applied = applied, .stop = x_[stop] > 0, .save = x_[save] > 0,
                .examples = examples_, .loss_weight = x_[weight], .join = x_[join] > 0};
    }
};

} // namespace sinter::strategy_parts
