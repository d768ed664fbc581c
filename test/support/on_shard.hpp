// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/model_memory.hpp>

/// A device whose programs are run with one shard of a global batch, whatever its trainer knows of that.
namespace sinter::test {
using namespace runtime;

inline batch_shard current_shard;   ///< of all such devices

template <class Device>
class on_shard : public Device {
public:
    using Device::Device;
    template <class P, class Observer = unobserved>
    auto run(typename Device::template runner<P>& r, step_arguments s, Observer observe = {}) {
        s.shard = current_shard;
        return Device::template run<P>(r, s, observe);
    }
};

} // namespace sinter::test
