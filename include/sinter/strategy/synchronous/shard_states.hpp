// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/options.hpp>
#include <sinter/strategy/synchronous/replica_set.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// States that shards of one batch have each made anew (batch_norm's running statistics), and what
/// becomes of them. All shards begin a step with the same. What gathers weights in a round of steps
/// is none of them.
template <class Programs>
class shard_states {
    using unit = replica<Programs>;
    static constexpr auto& p = Programs::template training<0>::v;
    static constexpr bool shared = Programs::device::shares_memory;
    static constexpr address first{space::state, 0};

public:
    SINTER_COLD shard_states(int shards, state_policy policy)
        : policy_(policy), sums_(p.floats(space::state)), nothing_(p.floats(space::state)) {
        std::fill_n(nothing_.data(), nothing_.size(), -0.f);   // to which anything is added as it is
        set_shards(shards);
    }
    SINTER_COLD void set_shards(int n) {
        from_.resize(static_cast<std::size_t>(n));
        while (!shared && host_.size() < from_.size()) host_.emplace_back(p.floats(space::state));
    }

    /// Adds up what shards with examples have made. Floats that all members are to add up now, at
    /// sums(): 0 where nothing is.
    std::int64_t add_up(replica_set<Programs>& units) {
        if (states() < 1) return 0;
        const int shards = units.size();
        any_ = -1;
        for (int i = shards - 1; i >= 0; --i) {
            const auto at = static_cast<std::size_t>(i);
            from_[at] = units.filled(i) ? place(units, at) : nothing_.data();
            if (units.filled(i)) any_ = i;
        }
        for (int k = 0; k < states(); ++k) {
            const std::int64_t line = p.states[k].at.offset() / 16, end = line + (p.states[k].floats + 15) / 16;
            if (policy_ == state_policy::per_shard) tree_sum(sums_.data(), from_.data(), shards, line, end);
            else if (any_ >= 0) tree_sum(sums_.data(), from_.data() + any_, 1, line, end);
        }
        return policy_ == state_policy::per_shard ? p.floats(space::state) : 0;
    }
    float* sums() { return sums_.data(); }
    /// Gives all shards the mean of what was added up; `filled`: how many shards had examples, over all members.
    void put(replica_set<Programs>& units, int filled) {
        if (policy_ == state_policy::local && any_ < 0) return;
        const float scale = policy_ == state_policy::per_shard ? 1.f / static_cast<float>(filled) : 1.f;
        for (int k = 0; k < states(); ++k) {
            const variable_info& s = p.states[k];
            float* const x = sums_.data() + s.at.offset();
            for (std::int64_t j = 0; j < s.floats; ++j) x[j] *= scale;
            for (unit& u : units) u.write(s.at, x, s.floats);
        }
    }

private:
    state_policy policy_;
    arena sums_, nothing_;
    std::vector<const float*> from_;
    std::vector<arena> host_;   ///< copies, where devices have memory of their own
    int any_ = -1;

    static constexpr int states() { return p.n_states - (unit::accumulates() ? 1 : 0); }
    const float* place(replica_set<Programs>& units, std::size_t i) {
        unit& u = units[static_cast<int>(i)];
        if constexpr (shared) {
            return u.host(first);
        } else {
            u.read(first, host_[i].data(), p.floats(space::state));
            return host_[i].data();
        }
    }
};

} // namespace sinter::strategy_parts
