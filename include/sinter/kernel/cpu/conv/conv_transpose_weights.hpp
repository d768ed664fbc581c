// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/gemm/transposed_panel.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The gradient layout of convolution weights: packed [KH * KW * CO][CI], the taps in reverse
/// order. The input gradient of a convolution is a convolution with these weights. Operands: w
/// packed as [KH * KW * CI][CO], the result, `floats` of them (any stride and padding; no body).
template <int CI, int CO, int KH, int KW>
struct conv_transpose_weights {
    static constexpr int phases = 1, panel = 2 * lanes;
    static constexpr std::int64_t scratch(int) { return 0; }
    static constexpr std::int64_t floats = panel_floats(std::int64_t{KH} * KW * CO, CI, lanes);
    static void finish(const call&) {}

    /// Piece by piece, each of one tap and the outputs of one panel, as the weights lie. The pieces
    /// of the result, which lie far apart, are prefetched two iterations ahead.
    static void run(const call& c) {
        constexpr bool non_temporal = stores_whole_lines && floats >= second_level_floats;
        constexpr int taps = KH * KW, all = (CO + panel - 1) / panel * taps;
        constexpr std::int64_t from_rows = std::int64_t{taps} * CI, rows = std::int64_t{taps} * CO;
        const std::int64_t end = share(all, c.part + 1, c.parts);
        for (std::int64_t i = share(all, c.part, c.parts); i < end; ++i) {
            const int tap = static_cast<int>(i % taps), o = static_cast<int>(i / taps) * panel;
            const int from_width = panel_columns(CO, o / panel, panel, lanes), outputs = std::min(CO - o, from_width);
            const float* from = c.p[copy_operand::from] + o * from_rows + tap * CI * from_width;
            for (int j = 0; j < CI; j += panel, from += panel * from_width) {
                const int width = panel_columns(CI, j / panel, panel, lanes);
                float* const to = c.p[copy_operand::to] + j * rows + ((taps - 1 - tap) * CO + o) * width;
                if (!non_temporal && j + 3 * panel <= CI)
                    for (int k = 0; k < outputs * panel; k += floats_a_line)
                        __builtin_prefetch(to + 2 * panel * rows + k, 1);
                if (outputs == panel && CI - j >= panel) {
                    transpose_square<non_temporal>(from, to);
                    continue;
                }
                for (int k = 0; k < width; k += lanes)
                    transpose_matrix(from + k * from_width, from_width, std::min(CI - j - k, lanes), outputs, to + k,
                                     width, false);
            }
        }
        if constexpr (non_temporal) lines_are_stored();
    }
};

template <class Body, int KH, int KW, int CI, int CO, int... X>
struct nest<op::conv_transpose, Body, KH, KW, CI, CO, X...> { using type = conv_transpose_weights<CI, CO, KH, KW>; };

} // namespace sinter::cpu
