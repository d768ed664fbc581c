// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/strategy/single.hpp>
#include <sinter/strategy/synchronous/session.hpp>
#include <bit>

namespace sinter::inline SINTER_TARGET {

namespace strategy_parts {
template <class Strategy>
inline constexpr bool is_single = false;
template <class Device>
inline constexpr bool is_single<single<Device>> = true;
/// Replicas of a process that a strategy says when it is compiled; 1 where it has one.
template <class Strategy>
inline constexpr int replicas_of = 1;
template <class Strategy>
    requires requires { Strategy::replicas; }
inline constexpr int replicas_of<Strategy> = Strategy::replicas;
} // namespace strategy_parts

/// What canonical<S>(strategy) gives.
template <int S, class Strategy>
struct canonical_strategy {
    static_assert(S > 0 && std::has_single_bit(static_cast<unsigned>(S)),
                  "canonical<S>: the number of shards is a power of two");
    static_assert(S % strategy_parts::replicas_of<Strategy> == 0 &&
                      std::has_single_bit(static_cast<unsigned>(strategy_parts::replicas_of<Strategy>)),
                  "canonical<S>: so many shards cannot be divided among so many replicas: 1, 2, 4... up to S");
    static_assert(
        strategy_parts::is_single<Strategy> || strategy_parts::synchronous_strategy<Strategy>,
        "canonical<S>(strategy): a strategy whose replicas train in step, such as single, mirrored, multi_worker");
    static_assert(!strategy_parts::changes_members<Strategy>, "canonical<S>(elastic(...)): elastic goes around it: "
                                                      "elastic(canonical<S>(...))");
    using device = typename Strategy::device;
    /// The same for all strategies: a program's bits depend on them.
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced, .shards = S};
    static constexpr strategy_parts::other_processes others =
        strategy_parts::is_single<Strategy> ? strategy_parts::other_processes::none
                                            : strategy_parts::others_of<Strategy>;
    Strategy strategy{};

    SINTER_COLD strategy_parts::synchronous_setup setup(const strategy_parts::program_identity& i) const {
        strategy_parts::synchronous_setup s;
        if constexpr (!strategy_parts::is_single<Strategy>) s = strategy.setup(i);
        const int processes = s.processes(), replicas = processes * s.shards;
        if (S % replicas || !std::has_single_bit(static_cast<unsigned>(replicas)))
            throw option_error("shards cannot be divided among the replicas", to_text({"canonical<", S, ">"}),
                               to_text({replicas, " replicas"}), to_text({"1, 2, 4... up to ", S}));
        s.workers = strategy_parts::is_single<Strategy> ? 0 : s.shards;
        s.shards = S / processes;
        s.in_tree_order = true;
        return s;
    }
    typename device::options device_options(int i) const {
        if constexpr (strategy_parts::is_single<Strategy>) return strategy.options;
        else return strategy.device_options(i * strategy_parts::replicas_of<Strategy> / S);
    }
    std::uint64_t policy() const {
        strategy_parts::number_hash h;
        if constexpr (!strategy_parts::is_single<Strategy>) h.add(strategy.policy());
        return h.add(S).value();
    }
    template <class Programs>
    using session = strategy_parts::synchronous_session<Programs, others>;
};

/// The same weights, states and optimizer's memory, bit by bit, on 1, 2, 4... up to S replicas of
/// whatever strategy: `canonical<4>(mirrored<2>{})`, `canonical<4>(single<cpu_device>{})`. Each
/// batch is cut into S shards, whoever computes them: dropout is drawn for each shard by itself,
/// batch_norm's statistics are a shard's, and what is added up over shards is added up in one fixed
/// binary tree. (S is part of the result: canonical<2> and canonical<4> differ in roundings.)
///
/// option_error when the trainer is made where the shards cannot be divided among the processes.
template <int S, class Strategy = single<cpu_device>>
constexpr canonical_strategy<S, Strategy> canonical(Strategy s = {}) {
    return {s};
}

} // namespace sinter
