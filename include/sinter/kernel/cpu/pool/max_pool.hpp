// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/bits.hpp>
#include <sinter/kernel/cpu/pool/first_max.hpp>
#include <sinter/kernel/cpu/pool/pool_axis.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// y [m, OH, OW, C]: the largest element of each KH x KW window of x [m, H, W, C], windows SV and
/// SH apart, the first PT rows above and PL columns left of the image. Padding never wins.
/// Operands: x, winners [m, OH, OW, C] as bytes, the place ky * KW + kx of a window's first
/// maximum; may be null. Body: off in y, row = pixel of y, col = channel.
template <int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, class Body>
struct max_pool {
    static_assert(KH * KW <= 256, "winners are bytes");
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int) { return 0; }
    static void finish(const call&) {}

    static void run(const call& c) {
        for_pixels<OH, OW>(c, [&](std::int64_t image, int oy, int ox, std::int64_t pixel) SINTER_ALWAYS {
            const float* x = c.p[pool_operand::from] + image * (H * W * C);
            if constexpr (KH * KW <= 9 && C >= lanes) in_registers(x, oy, ox, pixel, c);
            else one_by_one(x, oy, ox, pixel, c);
        });
    }

private:
    using vertical = pool_axis<H, OH, KH, SV, PT>;
    using horizontal = pool_axis<W, OW, KW, SH, PL>;

    template <class Channels>
    static SINTER_INLINE void emit(Channels channels, const first_max& m, int j, std::int64_t pixel, const call& c) {
        if (c.p[pool_operand::winners])
            store_bytes<channels.count>(reinterpret_cast<std::uint8_t*>(c.p[pool_operand::winners]) + pixel * C + j,
                                        m.place);
        channels.template put<Body>(m.best, pixel * C + j, pixel, j, c);
    }
    /// Prefetches the elements that the next row of windows has and this one has not, SV x SH for
    /// each window.
    static SINTER_INLINE void prefetch_row(const float* x, int last, int first, int j) {
        if constexpr (C >= floats_a_line && KH > SV && SV <= 2 && SH <= 2)
            unroll<SV * SH>([&](int q) SINTER_ALWAYS {
                const int y = std::min(last, H - 1) - q / SH, i = std::min(first + q % SH, W - 1);
                __builtin_prefetch(x + (y * W + i) * C + j);
            });
    }
    /// Any window. Of nine elements and less it takes 1.2 to 1.6 times as long as in_registers (256
    /// bits; with 128 twice), of 25 only 0.8: so many do not stay in registers.
    static SINTER_INLINE void one_by_one(const float* x, int oy, int ox, std::int64_t pixel, const call& c) {
        const auto v = vertical::elements(oy);
        const auto h = horizontal::elements(ox);
        for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
            first_max m{channels.get(x + (v.first * W + h.first) * C + j),
                        splat(std::int32_t(vertical::place(v.first, oy) * KW + horizontal::place(h.first, ox)))};
            for (int y = v.first; y < v.last; ++y)
                for (int i = h.first; i < h.last; ++i)
                    m.see(channels.get(x + (y * W + i) * C + j),
                          splat(vertical::place(y, oy) * KW + horizontal::place(i, ox)));
            emit(channels, m, j, pixel, c);
        });
    }
    /// Small windows of whole vectors: the maximum first, then its first place, so that no
    /// comparison waits for the one before. What hangs over an edge is the element there once more,
    /// under its own place. Where there may be a NaN, one by one.
    static SINTER_INLINE void in_registers(const float* x, int oy, int ox, std::int64_t pixel, const call& c) {
        constexpr int n = KH * KW;
        const auto v = vertical::elements(oy);
        const auto h = horizontal::elements(ox);
        const float* row[std::size_t{KH}];
        int column[std::size_t{KW}];
        std::int32_t of_row[std::size_t{KH}], of_column[std::size_t{KW}];
        vi place[std::size_t{n}];
        unroll<KH>([&](int k) SINTER_ALWAYS {
            const int y = std::clamp(oy * SV - PT + k, v.first, v.last - 1);
            row[k] = x + y * (W * C);
            of_row[k] = vertical::place(y, oy) * KW;
        });
        unroll<KW>([&](int k) SINTER_ALWAYS {
            const int i = std::clamp(ox * SH - PL + k, h.first, h.last - 1);
            column[k] = i * C;
            of_column[k] = horizontal::place(i, ox);
        });
        unroll<n>([&](int q) SINTER_ALWAYS { place[q] = splat(of_row[q / KW] + of_column[q % KW]); });
        for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
            vf element[std::size_t{n}];
            prefetch_row(x, (oy + 1) * SV - PT + KH - 1, ox * SH, j);
            unroll<n>([&](int q) SINTER_ALWAYS { element[q] = channels.get(row[q / KW] + column[q % KW] + j); });
            first_max m{element[0], place[n - 1]};
            vf sum = element[0];   // NaN where one is, and perhaps of infinities
            unroll<n - 1>([&](int q) SINTER_ALWAYS { m.best = max(element[q + 1], m.best), sum += element[q + 1]; });
            if (__builtin_expect(any(nan_lanes(sum)), 0)) {
                m = {element[0], place[0]};
                unroll<n>([&](int q) SINTER_ALWAYS { m.see(element[q], place[q]); });
            } else if (c.p[pool_operand::winners]) {
                unroll<n - 1>(
                    [&](int q) SINTER_ALWAYS { m.place = element[n - 2 - q] == m.best ? place[n - 2 - q] : m.place; });
            }
            emit(channels, m, j, pixel, c);
        });
    }
};

/// dx [m, H, W, C] of max_pool (same extents): each element takes the gradients of the windows that
/// it won. Operands: dy [m, OH, OW, C], winners as max_pool leaves them. Body: off in dx, row =
/// pixel of x, col = channel.
template <int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, class Body>
struct max_pool_gradient {
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int) { return 0; }
    static void finish(const call&) {}

    static void run(const call& c) {
        for_pixels<H, W>(c, [&](std::int64_t image, int y, int x, std::int64_t pixel) SINTER_ALWAYS {
            const place at{c.p[pool_operand::from] + image * (OH * OW * C),
                           reinterpret_cast<const std::uint8_t*>(c.p[pool_operand::winners]) + image * (OH * OW * C), y,
                           x, pixel};
            constexpr int rows = (KH + SV - 1) / SV, columns = (KW + SH - 1) / SH;   // windows that may hold an element
            if constexpr (rows <= 2 && columns <= 2) {
                const auto v = vertical::windows(y);
                const auto h = horizontal::windows(x);
                const bool two_rows = v.last - v.first == 2, two_columns = h.last - h.first == 2;
                if (two_rows && two_columns) unrolled<rows, columns>(at, c);
                else if (two_rows) unrolled<rows, 1>(at, c);
                else if (two_columns) unrolled<1, columns>(at, c);
                else unrolled<1, 1>(at, c);
            } else if constexpr (rows * columns <= 9) {
                unrolled<rows, columns>(at, c);
            } else {
                one_by_one(at, c);
            }
        });
    }

private:
    using vertical = pool_axis<H, OH, KH, SV, PT>;
    using horizontal = pool_axis<W, OW, KW, SH, PL>;
    struct place {   ///< of an element: what belongs to its image, and itself
        const float* dy;
        const std::uint8_t* winner;
        int y, x;
        std::int64_t pixel;
    };

    /// Any window: where many may hold an element, their number is not written out.
    static SINTER_INLINE void one_by_one(const place& p, const call& c) {
        const auto v = vertical::windows(p.y);
        const auto h = horizontal::windows(p.x);
        for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
            vf sum = zero();
            for (int oy = v.first; oy < v.last; ++oy)
                for (int ox = h.first; ox < h.last; ++ox) {
                    const int at = (oy * OW + ox) * C + j;
                    const vi won = load_bytes<channels.count>(p.winner + at) ==
                                   splat(std::int32_t(vertical::place(p.y, oy) * KW + horizontal::place(p.x, ox)));
                    sum += select(won, channels.get(p.dy + at), zero());
                }
            channels.template put<Body>(sum, p.pixel * C + j, p.pixel, j, c);
        });
    }
    /// Overlapping windows read several rows at once, which the processor does not foresee; nor
    /// does it what is written, so slowly.
    static constexpr bool prefetches = C >= floats_a_line && KH > SV;
    static constexpr int ahead = 64 * floats_a_line;
    /// With `Rows` x `Columns` windows at most; what is less are others under a place that no
    /// winner has.
    template <int Rows, int Columns>
    static SINTER_INLINE void unrolled(const place& p, const call& c) {
        constexpr int n = Rows * Columns, nowhere = -1024;
        const auto v = vertical::windows(p.y);
        const auto h = horizontal::windows(p.x);
        int row[std::size_t{Rows}], column[std::size_t{Columns}];
        std::int32_t of_row[std::size_t{Rows}], of_column[std::size_t{Columns}];
        vi place[std::size_t{n}];
        unroll<Rows>([&](int k) SINTER_ALWAYS {
            const int o = v.first + k;
            row[k] = std::min(o, OH - 1) * (OW * C);
            of_row[k] = o < v.last ? vertical::place(p.y, o) * KW : nowhere;
        });
        unroll<Columns>([&](int k) SINTER_ALWAYS {
            const int o = h.first + k;
            column[k] = std::min(o, OW - 1) * C;
            of_column[k] = o < h.last ? horizontal::place(p.x, o) : nowhere;
        });
        unroll<n>([&](int q) SINTER_ALWAYS { place[q] = splat(of_row[q / Columns] + of_column[q % Columns]); });
        if constexpr (prefetches && requires { Body::prefetch(0, 0, 0, 0, c); })
            Body::prefetch(1, C, p.pixel * C + ahead, C, c);
        for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
            if constexpr (prefetches) {   // for the next row of windows
                const int next = (std::min(v.last, OH - 1) * OW + h.first) * C + j;
                __builtin_prefetch(p.dy + next);
                if (j % 64 == 0) __builtin_prefetch(p.winner + next);
            }
            vf sum = zero();
            unroll<n>([&](int q) SINTER_ALWAYS {
                const int at = row[q / Columns] + column[q % Columns] + j;
                const vi won = load_bytes<channels.count>(p.winner + at) == place[q];
                sum += select(won, channels.get(p.dy + at), zero());
            });
            channels.template put<Body>(sum, p.pixel * C + j, p.pixel, j, c);
        });
    }
};

/// y [m, OH, OW, C]: of each window of x [m, H, W, C] the element at the place that max_pool's
/// winners tell. Body: off in y, row = pixel of y, col = channel.
template <int H, int W, int C, int OH, int OW, int KH, int KW, int SV, int SH, int PT, int PL, class Body>
struct max_pool_winners {
    static void run(const call& c) {
        using vertical = pool_axis<H, OH, KH, SV, PT>;
        using horizontal = pool_axis<W, OW, KW, SH, PL>;
        for_pixels<OH, OW>(c, [&](std::int64_t image, int oy, int ox, std::int64_t pixel) SINTER_ALWAYS {
            const auto v = vertical::elements(oy);
            const auto h = horizontal::elements(ox);
            const float* x = c.p[pool_operand::from] + image * (H * W * C);
            for_channels<C>([&](auto channels, int j) SINTER_ALWAYS {
                const vi winner = load_bytes<channels.count>(
                    reinterpret_cast<const std::uint8_t*>(c.p[pool_operand::winners]) + pixel * C + j);
                vf found = zero();
                for (int y = v.first; y < v.last; ++y)
                    for (int i = h.first; i < h.last; ++i) {
                        const vi here =
                            winner == splat(std::int32_t(vertical::place(y, oy) * KW + horizontal::place(i, ox)));
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
