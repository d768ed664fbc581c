// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace sinter::inline SINTER_TARGET::cpu {

/// A copy of one image [H, W, C] with PT zero rows above and PL zero columns left of it, PH rows of
/// PW columns in all (rows and columns that no window reaches are dropped), and `Slack` floats that
/// may be read after it.
template <int H, int W, int C, int PH, int PW, int PT, int PL, int Slack = 0>
struct padded_image {
    static constexpr int height = PH, width = PW;
    static constexpr std::int64_t floats = std::int64_t{PH} * PW * C + Slack;
    static constexpr int rows = std::max(0, std::min(H, PH - PT)), columns = std::max(0, std::min(W, PW - PL));

    /// The zeros around the image survive from copy to copy: only the first writes them.
    static void copy(const float* from, float* to, bool first) {
        if (first) std::fill_n(to, floats, 0.f);
        for (int y = 0; y < rows; ++y)
            std::memcpy(to + ((y + PT) * PW + PL) * C, from + y * W * C, sizeof(float) * columns * C);
    }
};

} // namespace sinter::cpu
