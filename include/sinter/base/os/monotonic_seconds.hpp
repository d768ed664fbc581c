// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <time.h>

namespace sinter::base::inline os {

/// Seconds of a clock that only goes forward.
SINTER_APART double monotonic_seconds();

#if SINTER_BODIES
SINTER_APART double monotonic_seconds() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
#endif

} // namespace sinter::base::os
