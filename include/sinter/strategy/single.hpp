// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter {

/// One device does it all: `estimator model{net, loss, adam{}, single<cuda>{}}`. Without a strategy a model is trained
/// on the processor, as by single<cpu_device>.
template <class Device>
struct single {
    using device = Device;
};

} // namespace sinter
