// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <string>
#if SINTER_BODIES
#include <unistd.h>
#endif

namespace sinter::base::inline os {

/// This process's number among those of its machine.
SINTER_SELDOM std::int64_t process_number();
/// The machine's own name; "unknown" where it has none.
SINTER_SELDOM SINTER_COLD std::string host_name();

#if SINTER_BODIES
SINTER_SELDOM_BODY std::int64_t process_number() { return ::getpid(); }

SINTER_SELDOM_BODY std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 && *name ? name : "unknown";
}
#endif

} // namespace sinter::base::os
