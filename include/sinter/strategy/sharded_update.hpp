// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/session.hpp>
#include <sinter/strategy/synchronous/updates_on_host.hpp>

namespace sinter::inline SINTER_TARGET {

/// What sharded_update(strategy) gives.
template <class Strategy>
struct sharded_update_strategy {
    static_assert(strategy_parts::synchronous_strategy<Strategy>,
                  "sharded_update(strategy): a strategy of several processes, such as multi_worker, or canonical<S> "
                  "around one");
    static_assert(!strategy_parts::changes_members<Strategy>, "sharded_update(elastic(...)): elastic goes around it: "
                                                      "elastic(sharded_update(...))");
    using device = typename Strategy::device;
    static constexpr strategy_traits traits = Strategy::traits;
    /// Also where canonical<S> is around it.
    static constexpr strategy_parts::other_processes others = strategy_parts::other_processes::update_parts;
    Strategy strategy{};

    strategy_parts::synchronous_setup setup(const strategy_parts::program_identity& i) const {
        return strategy.setup(i);
    }
    typename device::options device_options(int i) const { return strategy.device_options(i); }
    std::uint64_t policy() const {
        return strategy_parts::number_hash().add(strategy.policy()).text("sharded_update").value();
    }
    template <class Programs>
    using session = strategy_parts::synchronous_session<Programs, others>;
};

/// Each process updates its part of the weights alone, and has the optimizer's memory of that part
/// alone: gradients are reduced to the one that needs them, and new weights are gathered (ZeRO's
/// first stage, Rajbhandari et al. 2020, arXiv 1910.02054). Optimizers' memory beyond 4 MB takes
/// pages where it is written only. The bits are those of updating everywhere.
///
/// Of a device with memory of its own (cuda) the host updates: it has the optimizer's memory, of which the device has
/// none, takes the sums of gradients and its part of the weights from the device, and writes all weights back
/// (ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840). The bits are those of a processor's updates by these gradients.
/// Gradients are sent from the host's memory: not by nccl. There, tables that are updated by rows, accumulate<K> and
/// norms of single tensors (clip_by_norm) do not compile.
///
/// Tables that are updated by rows are updated by all. An optimizer that needs norms of
/// weights (lamb, max_norm) does not compile; clip_by_global_norm reduces all gradients everywhere.
/// Of members that may die each keeps two parts: elastic(sharded_update(...))
/// (strategy/elastic.hpp).
template <class Strategy>
constexpr sharded_update_strategy<Strategy> sharded_update(Strategy s) {
    return {s};
}

} // namespace sinter
