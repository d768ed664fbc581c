// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/strategy/synchronous/replica_set.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Sums over all shards in the midst of a step: synchronised_batch_norm's (compiler::sync_point).
/// One thread makes them while all others wait.
template <class Programs>
class shard_sums {
    using set = replica_set<Programs>;

public:
    /// `floats`: of the longest sum; 0: there is none.
    SINTER_COLD shard_sums(int shards, std::int64_t floats)
        : from_(static_cast<std::size_t>(shards)), sum_(base::round_up(floats, 16)),
          nothing_(base::round_up(floats, 16)) {
        std::fill_n(nothing_.data(), nothing_.size(), -0.f);
        if constexpr (!set::shared)
            for (int i = 0; i < shards; ++i) host_.emplace_back(sum_.size());
    }
    /// Adds up what shards have at `p`, and gives it to all; shards without examples add nothing.
    /// `add_others(sum, floats)` adds that of other members.
    template <class F>
    void add_up(set& units, const compiler::sync_point& p, F add_others) {
        for (int i = 0; i < units.size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            from_[at] = nothing_.data();
            if (!units.filled(i)) continue;
            if constexpr (set::shared) {
                from_[at] = units[i].host(p.at);
            } else {
                units[i].read(p.at, host_[at].data(), p.floats);
                from_[at] = host_[at].data();
            }
        }
        tree_sum(sum_.data(), from_.data(), units.size(), 0, base::round_up(p.floats, 16) / 16);
        add_others(sum_.data(), p.floats);
        for (auto& u : units) u.write(p.at, sum_.data(), p.floats);
    }

private:
    std::vector<const float*> from_;
    runtime::arena sum_, nothing_;   ///< the latter -0, to which anything is added as it is
    std::vector<runtime::arena> host_;
};

} // namespace sinter::strategy_parts
