// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv/conv_forward.hpp>
#include <sinter/kernel/cpu/conv/conv_gradient_strips.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// One axis of an input gradient of stride S: the positions x with (x + P) % S == f see the taps f,
/// f + S, ... only, and through them the outputs are a plain sliding window again.
template <int Extent, int K, int S, int P>
struct gradient_phase {
    static constexpr int taps(int f) { return f < K ? (K - f + S - 1) / S : 0; }
    static constexpr int first(int f) { return ((f - P) % S + S) % S; }   ///< the first position
    static constexpr int count(int f) { return first(f) < Extent ? (Extent - 1 - first(f)) / S + 1 : 0; }
    static constexpr int origin(int x, int f) { return (x + P - f) / S - taps(f) + 1; }   ///< first output seen from x
    static constexpr int first_tap(int f) { return K - 1 - f - S * (taps(f) - 1); }       ///< its place, taps reversed
};

/// conv_input_gradient with lanes along input channels.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct conv_gradient_channels {
    static constexpr std::int64_t scratch(int) { return 0; }

    /// The gradient's images, read in place.
    struct source {
        static constexpr bool copies = false;
        static constexpr std::int64_t image_floats = std::int64_t{OH} * OW * CO;
        static const float* image(const float* dy, std::int64_t i, const call&, bool) {
            return dy + i * image_floats;
        }
    };
    using vertical = gradient_phase<H, KH, S, PT>;
    using horizontal = gradient_phase<W, KW, S, PL>;
    static constexpr int depth = KH * KW * CO;

    template <int V, int F>
    static SINTER_INLINE void columns(const float* dy, int rows, const float* w, float* row) {
        constexpr int n = horizontal::count(F), x = horizontal::first(F), taps = horizontal::taps(F);
        if constexpr (n > 0)
            conv_row<OW, CO, n, taps, 1, -horizontal::origin(x, F), V, S, S * KW>::run(
                dy, taps > 0 ? rows : 0, w + (taps > 0 ? horizontal::first_tap(F) : 0) * (CO * V * lanes),
                row_buffer{row + x * V * lanes, S * V * lanes});
    }

    template <int V, int Valid>
    static void image(const float* dy, const float* w, std::int64_t image, int col, const call& c) {
        alignas(64) float row[row_floats(W)];
        for (int y = 0; y < H; ++y) {
            const std::int64_t pixel = (image * H + y) * W;
            expect_row<Body, std::int64_t{H} * W * CI, W, Valid>(pixel * CI + col, CI, c);
            const int g = (y + PT) % S, taps = vertical::taps(g), top = vertical::origin(y, g);
            const int low = std::clamp(-top, 0, taps), high = std::clamp(OH - top, low, taps);
            const float* from = low < high ? dy + (top + low) * (OW * CO) : dy;
            const float* weights = low < high ? w + (vertical::first_tap(g) + S * low) * (KW * CO * V * lanes) : w;
            unroll<S>([&](auto f) SINTER_ALWAYS { columns<V, f>(from, high - low, weights, row); });
            emit_row<Body, W, V, Valid>(row, pixel * CI + col, pixel, col, CI, c);
        }
    }

    static void run(const call& c) {
        for_source_and_panels<source, CI, depth>(c, [&](auto valid, const float* dy, const float* w, std::int64_t i,
                                                        int col) SINTER_ALWAYS {
            image<(valid > lanes) + 1, valid>(dy, w, i, col, c);
        });
    }
};

/// dx [m, H, W, CI], the gradient of conv_forward's input (same extents). Operands: dy [m, OH, OW,
/// CO], weights by conv_transpose_weights. Body: off in dx, row = pixel of x, col = channel.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct conv_input_gradient {
    using by_strips = conv_gradient_strips<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using by_channels = conv_gradient_channels<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using method = std::conditional_t<by_strips::pays, by_strips, by_channels>;
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int parts) { return method::scratch(parts); }
    static void run(const call& c) { method::run(c); }
    static void finish(const call&) {}
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
struct nest<op::conv_input_gradient, Body, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0> {
    using type = conv_input_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
};

} // namespace sinter::cpu
