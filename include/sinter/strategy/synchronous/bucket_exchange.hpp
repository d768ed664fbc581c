// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/device_sums.hpp>
#include <sinter/strategy/synchronous/options.hpp>
#include <sinter/strategy/synchronous/row_list_exchange.hpp>
#include <sinter/strategy/synchronous/step_totals.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The gradients of a step, bucket by bucket: each is added up over this process's shards and, once it is final, over
/// all members, before the first of them the step's totals.
///
/// Sums over this process's shards have the order of a binary tree (tree_sum.hpp), whatever the number of threads;
/// those over members that of the communicator, or, on request, of the tree.
template <class Programs, other_processes Others>
class bucket_exchange {
    using set = replica_set<Programs>;
    using unit = typename set::unit;
    using P0 = typename set::P0;
    using ticket = collective::ticket;
    template <int I>
    using training = typename set::template training<I>;
    static constexpr bool distributed = Others != other_processes::none;
    static constexpr bool in_parts =
        Others == other_processes::update_parts || Others == other_processes::update_copied_parts;
    /// Do updates add up the gradients of all shards themselves? But those of tables.
    static constexpr bool updates_read_all = P0::request::options.gradient_sources > 1;
    static_assert(!updates_read_all || set::shared,
                  "strategy_traits::gradient_sources: this device's replicas share no memory");

public:
    bucket_exchange(set& replicas, member_group<distributed>& members, step_totals<Programs, distributed>& totals,
                    row_list_exchange<Programs, distributed>& lists)
        : replicas_(replicas), members_(members), totals_(totals), lists_(lists) {
        tickets_.resize(at(set::facts::most_buckets(typename set::all{})));
        resize();
        if constexpr (updates_read_all) device_sums::let_updates_read_all(replicas_, static_cast<bool>(members_));
    }
    /// There are other shards from now on.
    void resize() {
        operands_.assign(at(replicas_.team().size()), std::vector<const float*>(at(replicas_.size())));
    }

    /// A step begins, of whose shards `last` is the last that has examples; -1: none has.
    void begin(int last) { next_ = 0, last_ = last; }
    int last() const { return last_; }

    /// Adds up bucket k over this process's shards: the share of one of `threads`.
    template <int I>
    void add_up(int k, int thread, int threads) {
        const compiler::gradient_bucket& b = training<I>::v.buckets[k];
        if (b.is_list()) return thread == 0 ? lists_.template add_up_shards<I>(b) : void();
        if (replicas_.size() == 1 || (updates_read_all && b.parameter < 0)) return;
        std::vector<const float*>& from = operands_[at(thread)];
        for (int i = 0; i < replicas_.size(); ++i) from[at(i)] = replicas_.template place<I>(i, b.at);
        const std::int64_t lines = b.floats / 16;
        tree_sum(replicas_.template place<I>(0, b.at), from.data(), replicas_.size(), lines * thread / threads,
                 lines * (thread + 1) / threads);
    }
    /// All buckets, by each of the threads.
    template <int I>
    void add_up_all(int thread) {
        if constexpr (set::peers) device_sums::add_up<I>(replicas_, thread, host_adds());
        for (int k = 0; k < training<I>::v.n_buckets; ++k)
            if (!set::peers || training<I>::v.buckets[k].is_list()) add_up<I>(k, thread, replicas_.team().size());
    }
    /// Sends the buckets that are final behind this launch, in order. `adds_up`: adds up this process's before. `more`:
    /// the step goes on meanwhile.
    template <int I>
    void start_ready(int launch, const step_values& v, bool adds_up, bool more) {
        using P = training<I>;
        if (!totals_.started()) {
            if (launch < of_program::loss_launch<P>) return;
            if (more) read_last_loss<I>();
            totals_.start(v, more);
        }
        for (; next_ < P::v.n_buckets && P::v.buckets[next_].final_after <= launch; ++next_) {
            if (adds_up) add_up<I>(next_, 0, 1);
            tickets_[at(next_)] = start<I>(next_, v, more);
        }
    }
    /// While devices work: the totals, where they are not known; then each bucket once it is final.
    template <int I>
    void send_marked(const step_values& v) {
        using P = training<I>;
        for (int i = 0; i < replicas_.size() && !totals_.started(); ++i) {
            if (!replicas_.filled(i)) continue;
            shard_in_step& s = replicas_.shard(i);
            replicas_[i].template follow<I>(P::v.n_buckets);
            s.loss = replicas_[i].template finish_aside<I>();
            s.finite = s.finite && is_finite(s.loss);
        }
        if (!totals_.started()) totals_.start(v, true);
        for (int k = 0; k < P::v.n_buckets; ++k) {
            const compiler::gradient_bucket& b = P::v.buckets[k];
            if (b.is_list()) lists_.template fetch_aside<I>(k);
            else device_sums::add_up_aside<I>(replicas_, k, host_adds());
            if (b.is_list() || !set::peers) add_up<I>(k, 0, 1);
            if constexpr (distributed)
                if (members_) tickets_[at(k)] = start<I>(k, v, true);
        }
        next_ = P::v.n_buckets;
        for (unit& u : replicas_) u.wait_aside();
    }
    /// Returns when all that was sent has come.
    template <int I>
    void wait() {
        for (int k = 0; k < training<I>::v.n_buckets; ++k) members_->wait(tickets_[at(k)]);
    }
    /// One for each bucket.
    std::vector<ticket>& tickets() { return tickets_; }

private:
    set& replicas_;
    member_group<distributed>& members_;
    step_totals<Programs, distributed>& totals_;
    row_list_exchange<Programs, distributed>& lists_;
    std::vector<std::vector<const float*>> operands_;   ///< of a sum over shards, for each thread
    std::vector<ticket> tickets_;
    int next_ = 0;    ///< buckets before it have been sent
    int last_ = -1;

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    /// Whether the host needs the sums that devices make: others are sent them, or it updates by them.
    bool host_adds() const { return members_ || (in_parts && !set::shared); }
    template <int I>
    ticket start(int k, const step_values& v, bool more) {
        const compiler::gradient_bucket& b = training<I>::v.buckets[k];
        if constexpr (training<I>::v.n_lists > 0)
            if (b.is_list()) {
                list_exchange& l = lists_.template of<I>(b);
                return members_->start(
                    members_.operation(collective::kind::all_gather_rows, v.step, collective::element::u8, k),
                    l.slots(), l.slot_bytes(), more);
            }
        collective::kind how = members_.summing();
        if constexpr (in_parts)
            if (training<I>::v.reach == compiler::update_reach::own_gradient && of_program::in_parts<training<I>>(k))
                how = members_.summing_parts();
        return members_->start(members_.operation(how, v.step, collective::element::f32, k),
                               replicas_.template place<I>(0, b.at), b.floats, more);
    }
    template <int I>
    void read_last_loss() {
        shard_in_step& s = replicas_.shard(last_);
        s.loss = replicas_[last_].template finish_step<I>();
        s.finite = is_finite(s.loss);
    }
};

} // namespace sinter::strategy_parts
