// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <time.h>

namespace sinter::base::inline os {

/// Seconds of a clock that only goes forward.
inline double monotonic_seconds() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

} // namespace sinter::base::os
