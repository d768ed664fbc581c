// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_TARGET::gpu {

/// Rows and columns of what a kernel's threads walk over.
struct walk_extents {
    std::int64_t rows, columns;
};

} // namespace sinter::gpu
