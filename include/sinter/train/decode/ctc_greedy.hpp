// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <sinter/base/separate_compilation.hpp>
#include <vector>
#if SINTER_BODIES
#include <sinter/train/metrics/accuracy.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::decode {

/// What a net trained with ctc says, after its best path: each frame's best class, repetitions
/// taken for one, blanks left out. `scores` [frames, classes]: logits or probabilities, it is the
/// same. The best path is not always that of the most probable labels, for those may have many
/// paths: ctc_beam adds these up.
SINTER_APART std::vector<std::int32_t> ctc_greedy(const float* scores, int frames, int classes, int blank = 0);

#if SINTER_BODIES
SINTER_APART std::vector<std::int32_t> ctc_greedy(const float* scores, int frames, int classes, int blank) {
    std::vector<std::int32_t> said;
    int last = blank;
    for (int t = 0; t < frames; ++t) {
        const int c = metrics::predicted_class(scores + static_cast<std::int64_t>(t) * classes, classes);
        if (c != blank && c != last) said.push_back(c);
        last = c;
    }
    return said;
}
#endif

} // namespace sinter::decode
