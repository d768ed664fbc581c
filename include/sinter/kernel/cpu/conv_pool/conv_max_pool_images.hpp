// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv_pool/conv_max_pool_channels.hpp>
#include <sinter/kernel/cpu/conv_pool/emit_windows.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_max_pool_forward with lanes along images, for the first layer of a net whose few output
/// channels would leave lanes empty. As many images as there are lanes are copied with their
/// elements side by side, each weight is broadcast to all of them, and each window's results are
/// transposed. Images left over are done with lanes along channels: the sums are the same.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct conv_max_pool_images {
    using by_channels = conv_max_pool_channels<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
    static constexpr int rows = OH / P, columns = OW / P;
    static constexpr int height = (rows * P - 1) * S + KH, width = (columns * P - 1) * S + KW,
                         pitch = width * CI;   ///< of the copies
    static constexpr int copied_rows = std::max(0, std::min(H, height - PT)),
                         copied = std::max(0, std::min(W, width - PL)) * CI;
    static constexpr std::int64_t own = std::int64_t{height} * pitch * lanes;
    static constexpr std::int64_t scratch(int parts) { return by_channels::scratch(parts) + parts * own; }

    /// A quarter of the lanes empty otherwise, and copies that stay near. Not measured where
    /// vectors are lines.
    static constexpr bool pays = P == 2 && lanes < floats_a_line && CO * 4 <= lanes * 3 && copied >= lanes &&
                                 own <= second_level_floats / 4;

    /// Elements of `lanes` images side by side; the zeros around them survive from copy to copy.
    static __attribute__((noinline)) void copy(const float* from, float* to, bool first) {
        if (first) std::fill_n(to, own, 0.f);
        to += (PT * pitch + PL * CI) * lanes;
        for (int y = 0; y < copied_rows; ++y, from += W * CI, to += pitch * lanes)
            for (int i = 0; i < copied; i += lanes) {
                const int at = std::min(i, copied - lanes);
                vf v[lanes];
                load_transposed<H * W * CI>(v, from + at);
                store_block<1>(v, to + at * lanes, lanes);
            }
    }

    /// Channels whose four sums a window keeps in registers, beside their weights and one input.
    static constexpr int most = (registers - 1) / 5, groups = (CO + most - 1) / most,
                         group = (CO + groups - 1) / groups;

    template <int G>
    static SINTER_INLINE void add_tap(vf (&s)[std::size_t{4 * G}], const float* x, const float* w) {
        vf weight[std::size_t{G}];
        unroll<G>([&](auto o) SINTER_ALWAYS { pin(weight[o] = splat(w[o])); });
        unroll<4>([&](auto q) SINTER_ALWAYS {
            vf in = load(x + (q / 2 * pitch + q % 2 * CI) * (S * lanes));
            pin(in);
            unroll<G>([&](auto o) SINTER_ALWAYS { s[4 * o + q] = fma(in, weight[o], s[4 * o + q]); });
            load_after(x, s[4 * (G - 1) + q]);
        });
    }
    /// G channels of one window of all images, pooled.
    template <int G>
    static __attribute__((noinline)) void window(const float* x, const float* w, vf* best, vi* place) {
        vf s[std::size_t{4 * G}];
        clear_block(s);
        // A compiler that knows how many iterations there are writes them out, and keeps inputs for
        // the next tap in registers that it does not have.
        int taps = KW * CI;
        asm("" : "+r"(taps));
        for (int ky = 0; ky < KH; ++ky, x += (pitch - KW * CI) * lanes)
            for (int t = 0; t < taps; ++t, x += lanes, w += lanes) add_tap<G>(s, x, w);
        unroll<G>([&](auto o) SINTER_ALWAYS {
            const first_max m = largest_of_four(s[4 * o], s[4 * o + 1], s[4 * o + 2], s[4 * o + 3]);
            best[o] = m.best;
            place[o] = m.place;
        });
    }

    static void run(const call& c) {
        float* const x = c.scratch + by_channels::scratch(c.parts) + first_part(c) * own;
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        vf best[lanes];
        vi place[lanes];
        std::int64_t i = begin;
        for (; i + lanes <= end; i += lanes) {
            copy(c.p[conv_operand::source] + i * (H * W * CI), x, i == begin);
            for (int p = 0; p < rows * columns; ++p) {
                const float* const at = x + (p / columns * pitch + p % columns * CI) * (2 * S * lanes);
                unroll<groups>([&](auto g) SINTER_ALWAYS {
                    constexpr int o = g * group;
                    window<std::min(group, CO - o)>(at, c.p[conv_operand::weights] + o, best + o, place + o);
                });
                emit_windows<Body, CO>(best, i * (rows * columns) + p, rows * columns, lanes, c);
                emit_places<CO>(place, i * (rows * columns) + p, rows * columns, lanes, c);
            }
        }
        using source = typename by_channels::source;
        for (const std::int64_t first = i; i < end; ++i)
            by_channels::template image<1, CO>(source::image(c.p[conv_operand::source], i, c, i == first),
                                               c.p[conv_operand::weights], i, 0, c);
    }
};

} // namespace sinter::cpu
