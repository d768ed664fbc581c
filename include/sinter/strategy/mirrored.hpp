// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/session.hpp>
#include <limits>

namespace sinter::inline SINTER_TARGET {

class cpu_device;

namespace detail {
/// Options of a device's i-th replica: GPUs are numbered, processors are not.
template <class Device>
typename Device::options options_of_replica(typename Device::options o, int i) {
    if constexpr (requires { o.number; }) o.number = o.number < 0 ? i : o.number + i;
    return o;
}
} // namespace detail

/// N replicas in this process, each of which trains on a part of the batch: `estimator model{net,
/// loss, adam{}, mirrored<2>{}}`, or `mirrored<4, cuda>{}` for four GPUs. What max_batch<B> says is
/// the whole batch's size. Results are those of one device but for roundings, and do not change from
/// run to run; canonical<S> (strategy/canonical.hpp) makes them the same for all N, too.
///
/// On a processor the replicas are threads that share parameters and the optimizer's memory. A net
/// of many parameters with small batches is better off with one replica of many threads.
template <int N, class Device = cpu_device>
struct mirrored {
    static_assert(N > 0, "mirrored<N>: at least one replica");
    using device = Device;
    static constexpr strategy_traits traits{.gradients = gradient_policy::reduced,
                                            .bucket_bytes = std::numeric_limits<int>::max(),   // nothing is sent
                                            .shards = N};
    state_policy states = state_policy::per_shard;
    typename Device::options options{};   ///< of the first replica's device; GPUs follow by number

    template <class Programs>
    class session : public synchronous_session<Programs> {
    public:
        SINTER_COLD session(const mirrored& s, int threads)
            : synchronous_session<Programs>({.shards = N, .workers = N, .states = s.states},
                                            [&](int i) { return detail::options_of_replica<Device>(s.options, i); }, threads) {}
    };
};

} // namespace sinter
