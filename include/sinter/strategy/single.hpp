// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/stand_in_device.hpp>
#include <sinter/strategy/strategy.hpp>
#include <type_traits>

namespace sinter::inline SINTER_TARGET {

/// The session of a model that trains on one device: one replica, and nobody to share with. A base
/// for strategies that change one thing.
template <class Programs>
class single_session : public replica<Programs> {
public:
    using replica<Programs>::replica;
    replica<Programs>& local() { return *this; }
    const replica<Programs>& local() const { return *this; }
    void publish() {}
    void refresh() {}
    void reduce(span<double>) {}
    static constexpr membership member() { return {}; }   // known when it is compiled: see strategy_session
    static constexpr bool steps_need_examples = true;     // a strategy that is made of this one says false if not
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
