// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_TARGET {

/// What a training program does with gradients between the kernels that make them and the
/// optimizer. Weights end with the same bits under each, but where a norm of a table's gradient is
/// taken that is a list of rows under `reduced`: its terms are added up in the list's order.
enum class gradient_policy : std::uint8_t {
    fused,    ///< a kernel that makes a gradient updates with it where it can: the fastest on one device
    stored,   ///< all are written to memory, and updates follow behind the last of them
    reduced,  ///< stored in buckets, in the order in which they become final, so that others' may be added to each
              ///< while the rest are made; a table's gradient is a list of rows (compiler/plan/buckets.hpp)
};

} // namespace sinter
