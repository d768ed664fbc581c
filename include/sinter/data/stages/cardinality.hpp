// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

/// How many elements a pass has: 0 or more, unknown_size (behind a filter, say), or endless. Nothing is read for it.
template <element_stage Stages>
std::int64_t cardinality(const Stages& stages) {
    return stages.size();
}

} // namespace sinter::data
