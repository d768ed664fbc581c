// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/session.hpp>
#include <limits>

namespace sinter::inline SINTER_TARGET {

class cpu_device;

/// N replicas in this process, each of which trains on a part of the batch: `estimator model{net,
/// loss, adam{}, mirrored<2>{}}`, or `mirrored<4, cuda>{}` for four GPUs. What max_batch<B> says is
/// the whole batch's size. Results are those of one device but for roundings, and do not change
/// from run to run; canonical<S> (strategy/canonical.hpp) makes them the same for all N, too.
///
/// On a processor the replicas are threads that share parameters and the optimizer's memory. A net
/// of many parameters with small batches is better off with one replica of many threads.
template <int N, class Device = cpu_device>
struct mirrored {
    static_assert(N > 0, "mirrored<N>: at least one replica");
    static constexpr int replicas = N;
    static constexpr strategy_parts::other_processes others = strategy_parts::other_processes::none;
    using device = Device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced,
                                            .bucket_bytes = std::numeric_limits<int>::max(),   // nothing is sent
                                            .shards = N,
                                            .gradient_sources = strategy_parts::gradient_sources<Device>(N)};
    state_policy states = state_policy::per_shard;
    typename Device::options options{};   ///< of the first replica's device; GPUs follow by number

    strategy_parts::synchronous_setup setup(const strategy_parts::program_identity&) const {
        return {.shards = N, .workers = N, .states = states};
    }
    typename Device::options device_options(int i) const {
        return strategy_parts::options_of_replica<Device>(options, i);
    }
    std::uint64_t policy() const { return strategy_parts::number_hash().add(static_cast<int>(states)).value(); }
    template <class Programs>
    using session = strategy_parts::synchronous_session<Programs, others>;
};

} // namespace sinter
