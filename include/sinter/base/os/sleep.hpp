// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#if SINTER_BODIES
#include <time.h>
#endif

namespace sinter::base::inline os {

/// Lets so many seconds pass, or fewer where a signal comes.
SINTER_SELDOM SINTER_COLD void sleep_seconds(double seconds);

#if SINTER_BODIES
SINTER_SELDOM_BODY void sleep_seconds(double seconds) {
    timespec t{};
    t.tv_sec = static_cast<time_t>(seconds);
    t.tv_nsec = static_cast<long>((seconds - static_cast<double>(t.tv_sec)) * 1e9);
    ::nanosleep(&t, nullptr);
}
#endif

} // namespace sinter::base::os
