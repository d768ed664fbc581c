// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/emit_pixels.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// How input gradients of convolutions over few input channels lie while they are summed: lanes run
/// along (kx, ci), contiguous in dx, so that 5 x 6 fill 30 of 32 lanes; dx has room around it for
/// what windows over its edges add. `Columns` of the result's columns have a gradient.
template <int H, int W, int CI, int CO, int KH, int KW, int S, int PT, int PL, int Columns, class Body>
struct gradient_rows {
    static constexpr int vectors = (KW * CI + lanes - 1) / lanes;
    static constexpr int row = vectors * lanes;   ///< floats of a row of taps
    static constexpr int pitch =
        std::max((Columns - 1) * S + KW, W + PL) * CI + lanes;   ///< floats from one row of dx to the next

    /// Panels [KH * KW * CO][CI], taps reversed, to [channel][Padding rows of zeros, KH of (kx,
    /// ci), zeros again].
    template <int Padding>
    static __attribute__((noinline)) void arrange(const float* from, float* to) {
        constexpr int filter = (KH + 2 * Padding) * row;
        std::fill_n(to, std::int64_t{CO} * filter, 0.f);
        for (int t = 0; t < KH * KW; ++t)
            for (int o = 0; o < CO; ++o) {
                float* d = to + std::int64_t{o} * filter + (t / KW + Padding) * row + t % KW * CI;
                for (int i = 0; i < CI; ++i)
                    d[i] = from[panel_offset(KH * KW * CO, CI, std::int64_t{KH * KW - 1 - t} * CO + o, i, 2 * lanes,
                                             lanes)];
            }
    }

    /// Hands one image's dx to the body.
    static void emit(const float* dx, std::int64_t image, const call& c) {
        for (int y = 0; y < H; ++y)
            unroll<(CI + lanes - 1) / lanes>([&](auto v) SINTER_ALWAYS {
                constexpr int col = v * lanes;
                const std::int64_t pixel = (image * H + y) * W;
                emit_pixels<Body, CI - col>(dx + (y + PT) * pitch + PL * CI + col, CI, W, pixel * CI + col, CI, pixel,
                                            col, c);
            });
    }
};

} // namespace sinter::cpu
