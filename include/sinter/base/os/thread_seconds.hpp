// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#if SINTER_BODIES
#include <time.h>
#endif

namespace sinter::base::inline os {

/// Seconds for which the calling thread has had a processor.
SINTER_SELDOM double thread_seconds();

#if SINTER_BODIES
SINTER_SELDOM_BODY double thread_seconds() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
#endif

} // namespace sinter::base::os
