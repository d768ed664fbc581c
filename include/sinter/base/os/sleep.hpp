// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <time.h>

namespace sinter::base::inline os {

/// Lets so many seconds pass, or fewer where a signal comes.
SINTER_COLD inline void sleep_seconds(double seconds) {
    timespec t{};
    t.tv_sec = static_cast<time_t>(seconds);
    t.tv_nsec = static_cast<long>((seconds - static_cast<double>(t.tv_sec)) * 1e9);
    ::nanosleep(&t, nullptr);
}

} // namespace sinter::base::os
