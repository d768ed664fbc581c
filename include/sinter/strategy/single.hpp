// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_TARGET {

/// One device does it all: `estimator model{net, loss, adam{}, single<cuda>{}}`. Without a strategy a model is trained
/// on the processor, as by single<cpu_device>.
template <class Device>
struct single {
    using device = Device;
};

} // namespace sinter
