// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/first_max.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/cpu/pool_axis.hpp>

namespace sinter::cpu {

/// y [m, OH, OW, C]: the largest element of each KH x KW window of x [m, H, W, C], windows SV and SH apart, the first PT rows
/// above and PL columns left of the image. Padding never wins. p[0] = x, p[1] = winners [m, OH, OW, C] as bytes, the
/// place ky * KW + kx of a window's first maximum; may be null. Body: off in y, row = pixel of y, col = channel.
template <int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, class Body>
struct max_pool {
    static_assert(KH * KW <= 256, "winners are bytes");
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int) { return 0; }
    static void finish(const call&) {}

    static void run(const call& c) {
        using vertical = pool_axis<H, OH, KH, SV, PT>;
        using horizontal = pool_axis<W, OW, KW, SH, PL>;
        for_pixels<OH, OW>(c, [&](std::int64_t image, int oy, int ox, std::int64_t pixel) SINTER_ALWAYS {
            const auto v = vertical::elements(oy);
            const auto h = horizontal::elements(ox);
            const float* x = c.p[0] + image * (H * W * C);
            for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
                first_max m{channels.get(x + (v.first * W + h.first) * C + j),
                            splat(std::int32_t(vertical::place(v.first, oy) * KW + horizontal::place(h.first, ox)))};
                for (int y = v.first; y < v.last; ++y)
                    for (int i = h.first; i < h.last; ++i)
                        m.see(channels.get(x + (y * W + i) * C + j),
                              vertical::place(y, oy) * KW + horizontal::place(i, ox));
                if (c.p[1])
                    store_bytes<channels.count>(reinterpret_cast<std::uint8_t*>(c.p[1]) + pixel * C + j, m.place);
                channels.template put<Body>(m.best, pixel * C + j, pixel, j, c);
            });
        });
    }
};

/// dx [m, H, W, C] of max_pool (same extents): each element takes the gradients of the windows that it won.
/// p[0] = dy [m, OH, OW, C], p[1] = winners as max_pool leaves them. Body: off in dx, row = pixel of x, col = channel.
template <int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, class Body>
struct max_pool_gradient {
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int) { return 0; }
    static void finish(const call&) {}

    static void run(const call& c) {
        using vertical = pool_axis<H, OH, KH, SV, PT>;
        using horizontal = pool_axis<W, OW, KW, SH, PL>;
        for_pixels<H, W>(c, [&](std::int64_t image, int y, int x, std::int64_t pixel) SINTER_ALWAYS {
            const auto v = vertical::windows(y);
            const auto h = horizontal::windows(x);
            const float* dy = c.p[0] + image * (OH * OW * C);
            const std::uint8_t* winner = reinterpret_cast<const std::uint8_t*>(c.p[1]) + image * (OH * OW * C);
            for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
                vf sum = zero();
                for (int oy = v.first; oy < v.last; ++oy)
                    for (int ox = h.first; ox < h.last; ++ox) {
                        const int at = (oy * OW + ox) * C + j;
                        const vi won = load_bytes<channels.count>(winner + at) ==
                                       splat(std::int32_t(vertical::place(y, oy) * KW + horizontal::place(x, ox)));
                        sum += select(won, channels.get(dy + at), zero());
                    }
                channels.template put<Body>(sum, pixel * C + j, pixel, j, c);
            });
        });
    }
};

/// y [m, OH, OW, C]: of each window of p[0] = x [m, H, W, C] the element at the place that p[1], max_pool's winners, tells.
/// Body: off in y, row = pixel of y, col = channel.
template <int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, class Body>
struct max_pool_winners {
    static void run(const call& c) {
        using vertical = pool_axis<H, OH, KH, SV, PT>;
        using horizontal = pool_axis<W, OW, KW, SH, PL>;
        for_pixels<OH, OW>(c, [&](std::int64_t image, int oy, int ox, std::int64_t pixel) SINTER_ALWAYS {
            const auto v = vertical::elements(oy);
            const auto h = horizontal::elements(ox);
            const float* x = c.p[0] + image * (H * W * C);
            for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
                const vi winner = load_bytes<channels.count>(reinterpret_cast<const std::uint8_t*>(c.p[1]) + pixel * C + j);
                vf found = zero();
                for (int y = v.first; y < v.last; ++y)
                    for (int i = h.first; i < h.last; ++i) {
                        const vi here = winner == splat(std::int32_t(vertical::place(y, oy) * KW + horizontal::place(i, ox)));
                        found = select(here, channels.get(x + (y * W + i) * C + j), found);
                    }
                channels.template put<Body>(found, pixel * C + j, pixel, j, c);
            });
        });
    }
};

template <class Body, int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, int... X>
struct nest<op::max_pool_winners, Body, H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, X...> {
    using type = max_pool_winners<H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, Body>;
};
template <class Body, int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, int... X>
struct nest<op::max_pool, Body, H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, X...> {
    using type = max_pool<H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, Body>;
};
template <class Body, int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, int... X>
struct nest<op::max_pool_gradient, Body, H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, X...> {
    using type = max_pool_gradient<H, W, C, OH, OW, KH, KW, SV, SH, PT, PL, Body>;
};

} // namespace sinter::cpu
