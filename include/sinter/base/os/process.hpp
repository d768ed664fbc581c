// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <cstdint>
#include <string>
#include <unistd.h>

namespace sinter::base::inline os {

/// This process's number among those of its machine.
inline std::int64_t process_number() { return ::getpid(); }
/// The machine's own name; "unknown" where it has none.
SINTER_COLD inline std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 && *name ? name : "unknown";
}

} // namespace sinter::base::os
