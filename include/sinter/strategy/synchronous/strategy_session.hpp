// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/program_identity.hpp>
#include <sinter/strategy/synchronous/session.hpp>
#include <sinter/strategy/synchronous/session_over.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// A strategy of which synchronous_session is the session. `setup(identity)` says how it is made
/// up, and connects to other processes, if there are any: they have the same identity or are
/// refused. `device_options(i)`: of this process's i-th shard. `policy()`: a number that processes
/// of one job share.
template <class S>
concept synchronous_strategy = strategy<S> && requires(const S& s, const program_identity& i) {
    { s.setup(i) } -> std::same_as<synchronous_setup>;
    { s.device_options(0) } -> std::same_as<typename S::device::options>;
    { s.policy() } -> std::same_as<std::uint64_t>;
};

template <class Programs, other_processes Others>
class connected_replicas : public synchronous_session<Programs, Others> {
public:
    template <class Strategy>
    SINTER_COLD connected_replicas(const Strategy& s, int threads)
        : synchronous_session<Programs, Others>(s.setup(identity(s)), [&](int i) { return s.device_options(i); },
                                                threads) {
        static_assert(synchronous_strategy<Strategy>);
    }
    connected_replicas(connected_replicas&&) = default;
    connected_replicas& operator=(connected_replicas&&) = default;
    ~connected_replicas() { this->end_communication(); }

private:
    template <class Strategy>
    static program_identity identity(const Strategy& s) {
        if constexpr (Others == other_processes::none) return {};   // nobody compares it
        else return identity_of<Programs>(s.policy());
    }
};
/// The session of such a strategy.
template <class Programs, other_processes Others = other_processes::update_all>
using session_of_strategy = session_over<connected_replicas<Programs, Others>, Others == other_processes::none>;

/// Whether a strategy's members change from one step to the next (elastic()).
template <class Strategy>
inline constexpr bool changes_members = requires { Strategy::changes_members; };
/// A strategy of one process says so: `others`.
template <class Strategy>
inline constexpr other_processes others_of = other_processes::update_all;
template <class Strategy>
    requires requires { Strategy::others; }
inline constexpr other_processes others_of<Strategy> = Strategy::others;
/// How many replicas' gradients an update adds up itself, where so many share one memory.
template <class Device>
constexpr int gradient_sources(int replicas) {
    return Device::shares_memory && replicas <= program_options::most_gradient_sources ? replicas : 1;
}
/// Options of a device's i-th replica: GPUs are numbered, processors are not.
template <class Device>
typename Device::options options_of_replica(typename Device::options o, int i) {
    if constexpr (requires { o.number; }) o.number = o.number < 0 ? i : o.number + i;
    return o;
}
} // namespace sinter::detail
