// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/stand_in_device.hpp>
#include <sinter/strategy/strategy.hpp>
#include <type_traits>

namespace sinter::inline SINTER_TARGET {

/// A session of one replica, on which everything runs: a base for strategies that change a few calls. What members
/// of a job do together it leaves to them.
template <class Programs>
class replica_session : public replica<Programs>, public session_base {
public:
    using replica<Programs>::replica;
    void read(compiler::address from, float* to, std::int64_t n) const override {
        replica<Programs>::read(from, to, n);
    }
    void write(compiler::address to, const float* from, std::int64_t n) override {
        replica<Programs>::write(to, from, n);
    }
    void clear_slots() override { replica<Programs>::clear_slots(); }
    int threads() const override { return replica<Programs>::threads(); }
    bool takes_empty_batches() const override { return false; }   // a replica's step needs examples
    template <class F>
    void each_part(const batch_view& b, F f) {
        if (b.size > 0) f(static_cast<const replica<Programs>&>(*this), b);
    }
};

/// The session of a model that trains on one device, and shares with nobody. What does, derives from replica_session.
template <class Programs>
class single_session : public replica_session<Programs> {
public:
    static constexpr bool alone = true;
    using replica_session<Programs>::replica_session;
    membership member() const final { return {}; }
    void reduce(span<double>) final {}
};

/// One device does it all: `estimator model{net, loss, adam{}, single<cuda>{}}`, or
/// `single<cuda>{{.number = 1}}` for the second GPU. Updates run in the kernels of their gradients.
/// Without a strategy a model trains as by single<cpu_device>.
template <class Device>
struct single {
    using device = std::conditional_t<compute_device<Device>, Device, detail::stand_in_device>;
    static constexpr strategy_traits traits{};
    typename device::options options{};   ///< of the device

    template <class Programs>
    class session : public single_session<Programs> {
    public:
        SINTER_COLD session(const single& s, int threads)
            : single_session<Programs>(with_threads<device>(s.options, threads)) {
            static_assert(
                compute_device<Device>,
                "single<Device>: no device, or its header is missing: <sinter/device/cpu.hpp> has the processor, "
                "<sinter/cuda.hpp> a GPU; what else is a device: sinter/device/device.hpp");
        }
    };
};

class cpu_device;   // device/cpu.hpp, which sinter.hpp includes and cuda.hpp does not
using default_strategy = single<cpu_device>;

} // namespace sinter
