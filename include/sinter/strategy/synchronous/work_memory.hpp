// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Which of a process's shards a thread has: those from its first one up to the next thread's.
struct thread_shards {
    std::int64_t shards, threads;
    int first(int thread) const { return static_cast<int>(shards * thread / threads); }
    template <class F>
    void each(int thread, F f) const {
        const int end = first(thread + 1);
        for (int i = first(thread); i < end; ++i) f(i);
    }
};

/// Where replicas work in the host's memory. Shards of one thread are computed one after the other,
/// each from a step's begin to its gradients: activations of one are nothing to the next, so they
/// share one arena. Not where a step is made in several stretches, between which all shards wait
/// for each other.
class work_memory {
public:
    /// One unit for each shard; called again when there are more or fewer.
    template <class Unit>
    SINTER_COLD void share(std::vector<Unit>& units, int threads) {
        const thread_shards of{static_cast<std::int64_t>(units.size()), threads};
        owner_.resize(units.size(), -1);
        for (int thread = 0; thread < threads; ++thread) {
            const int first = of.first(thread), end = of.first(thread + 1);
            for (int i = first; i < end; ++i) {
                const int before = std::exchange(owner_[at(i)], first);
                if (i > first) units[at(i)].work_in_memory_of(&units[at(first)]);
                else if (before >= 0 && before != i) units[at(i)].work_in_memory_of(nullptr);
            }
        }
    }

private:
    std::vector<int> owner_;   ///< of each shard, in whose memory it works; -1: in its own
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
};

} // namespace sinter::strategy_parts
