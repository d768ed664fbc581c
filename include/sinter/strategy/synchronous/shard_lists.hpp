// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/list_exchange.hpp>
#include <sinter/strategy/synchronous/shard_replicas.hpp>
#include <array>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// The replicas of a process, and the gradients of tables that they make as lists of rows: copied
/// to the host's memory where devices have their own, added up over shards and members, and given
/// to all updates.
template <class Programs, other_processes Others>
class shard_lists : public shard_replicas<Programs, Others> {
protected:
    using replicas = shard_replicas<Programs, Others>;
    using typename replicas::unit;
    using replicas::shared, replicas::members_, replicas::shards_, replicas::units_, replicas::shard_, replicas::at,
        replicas::filled;
    template <int I>
    using training = typename Programs::template training<I>;
    using replicas::shard_replicas;

    /// Of each training program.
    std::array<std::vector<detail::list_exchange>, std::size_t{Programs::n_training}> lists_;
    std::vector<row_list> joined_lists_;
    bool joins_ = false;   ///< gradients are added to those of others, or have been

    template <int... I>
    SINTER_COLD void make_lists(std::integer_sequence<int, I...>) {
        ((lists_[std::size_t{I}] =
              detail::lists_of_program<training<I>>(shards_, members_ ? members_->size() : 0, !shared)),
         ...);
        joins_ = joins_ || members_ || shards_ > 1;
        (reserve_lists<I>(), ...);
        for (const auto& l : lists_) joined_lists_.resize(std::max(joined_lists_.size(), l.size()));
    }
    template <int I>
    SINTER_COLD void reserve_lists() {
        if constexpr (training<I>::v.n_lists > 0)
            for (std::size_t k = 0; joins_ && k < lists_[std::size_t{I}].size(); ++k)
                for (unit& u : units_)
                    u.template reserve_list<I>(static_cast<int>(k), lists_[std::size_t{I}][k].most_rows(),
                                               lists_[std::size_t{I}][k].width());
    }
    template <int I>
    detail::list_exchange& list_of(const compiler::gradient_bucket& b) { return lists_[std::size_t{I}][at(b.list)]; }

    /// Copies of a replica's lists, in the host's memory.
    template <int I>
    void fetch_lists(int i) {
        if constexpr (training<I>::v.n_lists > 0)
            for (const compiler::gradient_bucket& b : replicas::template buckets_of<I>())
                if (b.is_list() && joins_)
                    copy_list<I>(b, i, [&](compiler::address a, float* to, std::int64_t n) {
                        units_[at(i)].read(a, to, n);
                    });
    }
    /// The same of bucket k and all replicas, while they are at work.
    template <int I>
    void fetch_lists_aside(int k) {
        if constexpr (training<I>::v.n_lists > 0)
            for (int i = 0; i < shards_; ++i) {
                if (!filled(i)) continue;
                units_[at(i)].template follow<I>(k);
                copy_list<I>(training<I>::v.buckets[k], i, [&](compiler::address a, float* to, std::int64_t n) {
                    units_[at(i)].read_aside(a, to, n);
                });
            }
    }
    template <int I, class Read>
    void copy_list(const compiler::gradient_bucket& b, int i, Read read) {
        const row_list to = list_of<I>(b).copy(i);
        read(b.keys, reinterpret_cast<float*>(to.keys), list_header + b.most_rows);
        if (to.size() > 0) read(b.at, to.rows, 16 * to.lines());
    }
    template <int I>
    void join_lists(const compiler::gradient_bucket& b) {
        if constexpr (training<I>::v.n_lists > 0) {
            detail::list_exchange& l = list_of<I>(b);
            for (int i = 0; i < shards_; ++i) {
                if (!filled(i) || !shard_[at(i)].finite) l.set_empty(i);
                else if constexpr (!shared) l.set(i, l.copy(i));
                else
                    l.set(i, {reinterpret_cast<std::int32_t*>(units_[at(i)].at(b.keys)), units_[at(i)].at(b.at),
                              b.row_floats});
            }
            joined_lists_[at(b.list)] = l.join_shards();
            if (members_) l.pack(members_->rank());
        }
    }
    template <int I>
    void join_members_lists() {
        using P = training<I>;
        if constexpr (P::v.n_lists > 0) {
            for (std::size_t k = 0; members_ && k < lists_[std::size_t{I}].size(); ++k)
                joined_lists_[k] = lists_[std::size_t{I}][k].join_members();
            if constexpr (shared) units_[0].template place_lists<I>(joined_lists_.data());
        }
    }
};

} // namespace sinter::detail
