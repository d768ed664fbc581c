// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/collective/communicator.hpp>
#include <sinter/strategy/strategy.hpp>
#include <sinter/strategy/synchronous/tree_sum.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// Sums over all shards in the midst of a step: synchronised_batch_norm's (compiler::sync_point).
/// One thread makes them while all others wait.
template <class Unit>
class shard_sums {
public:
    /// `floats`: of the longest sum; 0: there is none.
    SINTER_COLD shard_sums(int shards, std::int64_t floats)
        : from_(static_cast<std::size_t>(shards)), sum_(base::round_up(floats, 16)),
          nothing_(base::round_up(floats, 16)) {
        std::fill_n(nothing_.data(), nothing_.size(), -0.f);
        if constexpr (!Unit::device::shares_memory)
            for (int i = 0; i < shards; ++i) host_.emplace_back(sum_.size());
    }
    /// Adds up what shards have at `p`, and gives it to all. `filled(i)`: has shard i examples?
    /// Others add nothing. `members`: null where this process is alone; `how`: the operation that
    /// adds them up.
    template <class Filled>
    void add_up(std::vector<Unit>& units, const compiler::sync_point& p, Filled filled,
                collective::communicator* members, const collective::operation& how) {
        for (std::size_t i = 0; i < units.size(); ++i) {
            from_[i] = nothing_.data();
            if (!filled(static_cast<int>(i))) continue;
            if constexpr (Unit::device::shares_memory) {
                from_[i] = units[i].at(p.at);
            } else {
                units[i].read(p.at, host_[i].data(), p.floats);
                from_[i] = host_[i].data();
            }
        }
        tree_sum(sum_.data(), from_.data(), static_cast<int>(units.size()), 0, base::round_up(p.floats, 16) / 16);
        if (members) members->wait(members->start(how, sum_.data(), p.floats, false));
        for (Unit& u : units) u.write(p.at, sum_.data(), p.floats);
    }

private:
    std::vector<const float*> from_;
    runtime::arena sum_, nothing_;   ///< the latter -0, to which anything is added as it is
    std::vector<runtime::arena> host_;
};

} // namespace sinter::detail
