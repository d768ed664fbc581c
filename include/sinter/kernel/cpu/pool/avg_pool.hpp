// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/pool/pool_axis.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// By how many elements the mean of window (oy, ox) divides; Divisor as in ops/detail/pool.hpp.
template <int H, int W, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, int Divisor>
SINTER_INLINE float window_count(int oy, int ox) {
    constexpr bool all = Divisor == whole_window, padded = Divisor > 0;
    constexpr int below = padded ? (Divisor - 1) >> padding_below : -1,
                  right = padded ? (Divisor - 1) % (1 << padding_below) : -1;
    return static_cast<float>(pool_axis<H, OH, KH, SV, PT>::counted(oy, all, below) *
                              pool_axis<W, OW, KW, SH, PL>::counted(ox, all, right));
}

/// y [m, OH, OW, C]: the mean of each KH x KW window of x [m, H, W, C], windows SV and SH apart,
/// the first PT rows above and PL columns left of the image. Operands: x. Body: off in y, row =
/// pixel of y, col = channel.
template <int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, int Divisor, class Body>
struct avg_pool {
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int) { return 0; }
    static void finish(const call&) {}
    static constexpr bool small = KH * KW <= 16;   ///< a window's sum is written out

    static void run(const call& c) {
        for_pixels<OH, OW>(c, [&](std::int64_t image, int oy, int ox, std::int64_t pixel) SINTER_ALWAYS {
            const auto v = pool_axis<H, OH, KH, SV, PT>::elements(oy);
            const auto h = pool_axis<W, OW, KW, SH, PL>::elements(ox);
            const float* x = c.p[pool_operand::from] + image * (H * W * C);
            const float n = window_count<H, W, OH, OW, KH, KW, SV, SH, PT, PL, Divisor>(oy, ox);
            for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
                vf sum = zero();
                if (small && v.last - v.first == KH && h.last - h.first == KW) {
                    const float* from = x + (v.first * W + h.first) * C + j;
                    unroll<small ? KH * KW : 0>(
                        [&](int k) SINTER_ALWAYS { sum += channels.get(from + (k / KW * W + k % KW) * C); });
                } else {
                    for (int y = v.first; y < v.last; ++y)
                        for (int i = h.first; i < h.last; ++i) sum += channels.get(x + (y * W + i) * C + j);
                }
                channels.template put<Body>(sum / splat(n), pixel * C + j, pixel, j, c);
            });
        });
    }
};

/// dx [m, H, W, C] of avg_pool (same extents): each window's gradient, spread evenly over its
/// elements. Operands: dy [m, OH, OW, C]. Body: off in dx, row = pixel of x, col = channel.
template <int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, int Divisor, class Body>
struct avg_pool_gradient {
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int) { return 0; }
    static void finish(const call&) {}

    static void run(const call& c) {
        using vertical = pool_axis<H, OH, KH, SV, PT>;
        using horizontal = pool_axis<W, OW, KW, SH, PL>;
        for_pixels<H, W>(c, [&](std::int64_t image, int y, int x, std::int64_t pixel) SINTER_ALWAYS {
            const auto v = vertical::windows(y);
            const auto h = horizontal::windows(x);
            const float* dy = c.p[pool_operand::from] + image * (OH * OW * C);
            for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
                vf sum = zero();
                for (int oy = v.first; oy < v.last; ++oy)
                    for (int ox = h.first; ox < h.last; ++ox) {
                        const float n = window_count<H, W, OH, OW, KH, KW, SV, SH, PT, PL, Divisor>(oy, ox);
                        sum += channels.get(dy + (oy * OW + ox) * C + j) / splat(n);
                    }
                channels.template put<Body>(sum, pixel * C + j, pixel, j, c);
            });
        });
    }
};

template <class Body, int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, int Divisor>
struct nest<op::avg_pool, Body, H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, Divisor> {
    using type = avg_pool<H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, Divisor, Body>;
};
template <class Body, int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, int Divisor>
struct nest<op::avg_pool_gradient, Body, H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, Divisor> {
    using type = avg_pool_gradient<H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, Divisor, Body>;
};

} // namespace sinter::cpu
