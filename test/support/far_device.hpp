// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu.hpp>

namespace sinter::test {

/// The processor, as if the host could not see its memory.
struct far_device : cpu_device {
    /// Whether this process's machine has such a device.
    static inline bool is_here = true;

    explicit far_device(options o) : cpu_device(o) {
        if (!is_here) throw device_error("no such device", "a test", "none", "one");
    }
    static constexpr bool shares_memory = false;
    const float* host_view(const runtime::model_memory& m, compiler::address from, float* workspace,
                           std::int64_t floats) const {
        read(m, from, workspace, floats);
        return workspace;
    }
};
static_assert(compute_device<far_device> && !adds_from_peers<far_device>);

} // namespace sinter::test
