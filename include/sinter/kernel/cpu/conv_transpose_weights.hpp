// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/cpu/simd.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::cpu {

/// The gradient layout of convolution weights: packed [KH * KW * CO][CI], the taps in reverse order. The input gradient
/// of a convolution is a convolution with these weights.
/// p[0] = w packed as [KH * KW * CI][CO], p[1] = the result, `floats` of them (any stride and padding; no body).
template <int CI, int CO, int KH, int KW>
struct conv_transpose_weights {
    static constexpr int phases = 1, panel = 2 * lanes;
    static constexpr std::int64_t scratch(int) { return 0; }
    static constexpr std::int64_t floats = panel_floats(std::int64_t{KH} * KW * CO, CI, lanes);
    static void finish(const call&) {}

    static void run(const call& c) {
        constexpr std::int64_t from_rows = std::int64_t{KH} * KW * CI, rows = std::int64_t{KH} * KW * CO;
        const std::int64_t first = share(rows, c.part, c.parts), last = share(rows, c.part + 1, c.parts);
        for (int i0 = 0; i0 < CI; i0 += panel) {
            const int width = panel_columns(CI, i0 / panel, panel, lanes);
            float* to = c.p[1] + i0 * rows + first * width;
            for (std::int64_t r = first; r < last; ++r, to += width) {
                const int o = static_cast<int>(r % CO), from_width = panel_columns(CO, o / panel, panel, lanes);
                const float* from =
                    c.p[0] + panel_offset(from_rows, CO, (KH * KW - 1 - r / CO) * CI + i0, o, panel, lanes);
                for (int j = 0; j < width; ++j) to[j] = i0 + j < CI ? from[j * from_width] : 0.f;
            }
        }
    }
};

template <class Body, int KH, int KW, int CI, int CO, int... X>
struct nest<op::conv_transpose, Body, KH, KW, CI, CO, X...> { using type = conv_transpose_weights<CI, CO, KH, KW>; };

} // namespace sinter::cpu
