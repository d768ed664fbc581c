// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sched.h>
#include <unistd.h>

namespace sinter::base::inline os {

/// Offers the caller's core to another thread.
inline void yield_core() { ::sched_yield(); }

/// Cores that this process may use.
SINTER_COLD inline int usable_cores() {
#if defined(__linux__)
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    const long n = ::sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? static_cast<int>(n) : 1;
}

} // namespace sinter::base::os
