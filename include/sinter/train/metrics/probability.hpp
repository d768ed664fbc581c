// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_ORDINARY::metrics {

/// Is the score in [0, 1]? What rounding does to the means and sums that a net or an ensemble makes
/// of probabilities may take it a little out: ten times 0.1f are 1.0000001f.
constexpr bool is_probability(float score) {
    constexpr float rounding = 1e-5f;
    return score >= -rounding && score <= 1 + rounding;
}

} // namespace sinter::metrics
