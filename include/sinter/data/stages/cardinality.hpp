// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>

namespace sinter::inline SINTER_ORDINARY::data {

/// How many elements a pass has: 0 or more, unknown_size (behind a filter, say), or endless. Nothing is read for it.
/// In tf.data -1 means endless and -2 unknown; here it is the other way round.
template <element_stage Stages>
std::int64_t cardinality(const Stages& stages) {
    return stages.size();
}

} // namespace sinter::data
