// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/list_exchange.hpp>
#include <sinter/strategy/synchronous/member_group.hpp>
#include <sinter/strategy/synchronous/replica_set.hpp>
#include <array>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The gradients of tables that replicas make as lists of rows: copied to the host's memory where devices have their
/// own, added up over shards and members, and given to all updates.
template <class Programs, bool Distributed>
class row_list_exchange {
    using set = replica_set<Programs>;
    using unit = typename set::unit;
    template <int I>
    using training = typename set::template training<I>;
    /// Of each training program.
    using lists = std::array<std::vector<strategy_parts::list_exchange>, std::size_t{Programs::n_training}>;

public:
    row_list_exchange(set& replicas, member_group<Distributed>& members) : replicas_(replicas), members_(members) {
        resize();
    }
    /// There are other members, or shards, from now on.
    SINTER_COLD void resize() { make(typename set::all{}); }

    /// Whether gradients are added to those of others, or have been.
    bool adds() const { return adds_; }
    template <int I>
    strategy_parts::list_exchange& of(const compiler::gradient_bucket& b) { return lists_[std::size_t{I}][at(b.list)]; }

    /// Copies shard i's lists to the host's memory.
    template <int I>
    void fetch(int i) {
        if constexpr (training<I>::v.n_lists > 0)
            for (const compiler::gradient_bucket& b : set::template buckets<I>())
                if (b.is_list() && adds_)
                    copy<I>(b, i, [&](compiler::address a, float* to, std::int64_t n) {
                        replicas_[i].read(a, to, n);
                    });
    }
    /// The same of bucket k and all replicas, while they are at work.
    template <int I>
    void fetch_aside(int k) {
        if constexpr (training<I>::v.n_lists > 0)
            for (int i = 0; i < replicas_.size(); ++i) {
                if (!replicas_.filled(i)) continue;
                replicas_[i].template follow<I>(k);
                copy<I>(training<I>::v.buckets[k], i, [&](compiler::address a, float* to, std::int64_t n) {
                    replicas_[i].read_aside(a, to, n);
                });
            }
    }
    /// Adds up this bucket's lists of all shards.
    template <int I>
    void add_up_shards(const compiler::gradient_bucket& b) {
        if constexpr (training<I>::v.n_lists > 0) {
            strategy_parts::list_exchange& l = of<I>(b);
            for (int i = 0; i < replicas_.size(); ++i) {
                if (!replicas_.filled(i) || !replicas_.shard(i).finite) l.set_empty(i);
                else if constexpr (!set::shared) l.set(i, l.copy(i));
                else
                    l.set(i, {reinterpret_cast<std::int32_t*>(replicas_[i].host(b.keys)), replicas_[i].host(b.at),
                              b.row_floats});
            }
            sums_[at(b.list)] = l.join_shards();
            if (members_) l.pack(members_->rank());
        }
    }
    /// Adds up those of all members, which have come.
    template <int I>
    void add_up_members() {
        if constexpr (training<I>::v.n_lists > 0) {
            for (std::size_t k = 0; members_ && k < lists_[std::size_t{I}].size(); ++k)
                sums_[k] = lists_[std::size_t{I}][k].join_members();
            if constexpr (set::shared) replicas_.first().template place_lists<I>(sums_.data());
        }
    }
    /// Gives the sums to a replica's update.
    template <int I>
    void place(unit& u) {
        if constexpr (training<I>::v.n_lists > 0)
            if (adds_) u.template place_lists<I>(sums_.data());
    }

    // ---- of a step that may be made again by other members
    /// Keeps the lists of the step; resize() makes others.
    void save() {
        for (const auto& l : saved_)
            if (!l.empty()) return;
        saved_.swap(lists_);
    }
    void forget_saved() {
        for (auto& l : saved_) l.clear();
    }

private:
    set& replicas_;
    member_group<Distributed>& members_;
    lists lists_, saved_;
    std::vector<row_list> sums_;
    bool adds_ = false;

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    template <int... I>
    SINTER_COLD void make(std::integer_sequence<int, I...>) {
        ((lists_[std::size_t{I}] = strategy_parts::lists_of_program<training<I>>(
              replicas_.size(), members_ ? members_->size() : 0, !set::shared)),
         ...);
        adds_ = adds_ || members_ || replicas_.size() > 1;
        (reserve<I>(), ...);
        for (const auto& l : lists_) sums_.resize(std::max(sums_.size(), l.size()));
    }
    template <int I>
    SINTER_COLD void reserve() {
        if constexpr (training<I>::v.n_lists > 0)
            for (std::size_t k = 0; adds_ && k < lists_[std::size_t{I}].size(); ++k)
                for (unit& u : replicas_)
                    u.template reserve_list<I>(static_cast<int>(k), lists_[std::size_t{I}][k].most_rows(),
                                               lists_[std::size_t{I}][k].width());
    }
    template <int I, class Read>
    void copy(const compiler::gradient_bucket& b, int i, Read read) {
        const row_list to = of<I>(b).copy(i);
        read(b.keys, reinterpret_cast<float*>(to.keys), list_header + b.most_rows);
        if (to.size() > 0) read(b.at, to.rows, 16 * to.lines());
    }
};

} // namespace sinter::strategy_parts
