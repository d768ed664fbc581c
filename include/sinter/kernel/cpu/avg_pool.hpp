// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/cpu/pool_axis.hpp>

namespace sinter::cpu {

/// y [m, OH, OW, C]: the mean of each K x K window of x [m, H, W, C], windows S apart, the first PT rows above and PL
/// columns left of the image. Padding is not counted (Keras' rule).
/// p[0] = x. Body: off in y, row = pixel of y, col = channel.
template <int H, int W, int C, int OH, int OW, int K, int S, int PT, int PL, class Body>
struct avg_pool {
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int) { return 0; }
    static void finish(const call&) {}

    static void run(const call& c) {
        for_pixels<OH, OW>(c, [&](std::int64_t image, int oy, int ox, std::int64_t pixel) SINTER_ALWAYS {
            const auto v = pool_axis<H, OH, K, S, PT>::elements(oy);
            const auto h = pool_axis<W, OW, K, S, PL>::elements(ox);
            const float* x = c.p[0] + image * (H * W * C);
            const float n = static_cast<float>((v.last - v.first) * (h.last - h.first));
            for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
                vf sum = zero();
                for (int y = v.first; y < v.last; ++y)
                    for (int i = h.first; i < h.last; ++i) sum += channels.get(x + (y * W + i) * C + j);
                channels.template put<Body>(sum / splat(n), pixel * C + j, pixel, j, c);
            });
        });
    }
};

/// dx [m, H, W, C] of avg_pool (same extents): each window's gradient, spread evenly over its elements.
/// p[0] = dy [m, OH, OW, C]. Body: off in dx, row = pixel of x, col = channel.
template <int H, int W, int C, int OH, int OW, int K, int S, int PT, int PL, class Body>
struct avg_pool_gradient {
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int) { return 0; }
    static void finish(const call&) {}

    static void run(const call& c) {
        using vertical = pool_axis<H, OH, K, S, PT>;
        using horizontal = pool_axis<W, OW, K, S, PL>;
        for_pixels<H, W>(c, [&](std::int64_t image, int y, int x, std::int64_t pixel) SINTER_ALWAYS {
            const auto v = vertical::windows(y);
            const auto h = horizontal::windows(x);
            const float* dy = c.p[0] + image * (OH * OW * C);
            for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
                vf sum = zero();
                for (int oy = v.first; oy < v.last; ++oy)
                    for (int ox = h.first; ox < h.last; ++ox) {
                        const auto a = vertical::elements(oy);
                        const auto b = horizontal::elements(ox);
                        const float n = static_cast<float>((a.last - a.first) * (b.last - b.first));
                        sum += channels.get(dy + (oy * OW + ox) * C + j) / splat(n);
                    }
                channels.template put<Body>(sum, pixel * C + j, pixel, j, c);
            });
        });
    }
};

template <class Body, int H, int W, int C, int OH, int OW, int K, int S, int PT, int PL, int... X>
struct nest<op::avg_pool, Body, H, W, C, OH, OW, K, S, PT, PL, X...> {
    using type = avg_pool<H, W, C, OH, OW, K, S, PT, PL, Body>;
};
template <class Body, int H, int W, int C, int OH, int OW, int K, int S, int PT, int PL, int... X>
struct nest<op::avg_pool_gradient, Body, H, W, C, OH, OW, K, S, PT, PL, X...> {
    using type = avg_pool_gradient<H, W, C, OH, OW, K, S, PT, PL, Body>;
};

} // namespace sinter::cpu
