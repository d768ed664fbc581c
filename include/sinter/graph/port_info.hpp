// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/shape.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// An input or target: what a batch must hold.
struct port_info {
    shape s;
    int below = 0;         ///< integers must be in [0, below); 0: not integers
    int also = 0;          ///< or this one
    bool weight = false;   ///< of the examples, not a target
    const char* name = "";   ///< that the batch's column has; empty: found by its place
};

} // namespace sinter
