// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_ORDINARY::facts {

/// One scope of the tree by which layers are named (graph/scope.hpp).
struct scope_entry {
    const char* name = "";
    int number = 0, parent = -1;
    bool entered_again = false;   ///< named by the user more than once
    bool block = false;           ///< named by the user, of whatever stands in it
};

} // namespace sinter::facts
