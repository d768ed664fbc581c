// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/checksum.hpp>
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_TARGET::wire {

using base::checksum;   // of frames without a key

} // namespace sinter::wire
