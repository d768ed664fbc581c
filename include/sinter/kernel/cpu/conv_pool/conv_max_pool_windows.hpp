// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/padded_image.hpp>
#include <sinter/kernel/cpu/pool/first_max.hpp>
#include <sinter/kernel/cpu/conv_pool/emit_windows.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_max_pool_forward with lanes along a row of 2 x 2 windows, for the first layer of a net
/// whose few output channels would leave most lanes empty. Each image is copied with its even
/// columns apart from its odd ones, so that what neighbouring windows need lies side by side; each
/// weight is broadcast to all of them.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct conv_max_pool_windows {
    static constexpr int rows = OH / P, columns = OW / P, vectors = (columns + lanes - 1) / lanes;
    /// A half more of all lanes in use than along channels makes up for transposing the results.
    static constexpr bool pays = P == 2 && S == 1 && CO < lanes &&
                                 CO * (2 * vectors * lanes) * 3 <= columns * (2 * lanes) * 2 && KH * KW * CI <= 128;

    static constexpr int width = static_cast<int>(round_up(columns * 2 - 1 + KW, 2)), pitch = width / 2;
    using image = padded_image<H, W, CI, rows * 2 - 1 + KH, width, PT, PL, 2 * lanes>;
    /// One plane for each channel of the even columns, and one of the odd ones.
    static constexpr int planes = 2 * CI;
    static constexpr std::int64_t plane = round_up(image::height * pitch + (vectors + 1) * lanes, 16),
                                  image_floats = round_up(image::floats, 16), own = image_floats + planes * plane;
    static constexpr std::int64_t scratch(int parts) { return parts * own; }

    /// Channels whose four sums a window keeps in registers.
    static constexpr int groups = (CO * 4 + registers - 9) / (registers - 8), group = (CO + groups - 1) / groups;

    template <int Odd>
    struct every_second {
        static constexpr int lane(int l) { return 2 * l + Odd; }
    };
    static __attribute__((noinline)) void part(const float* x, float* to) {
        if constexpr (planes == 2)
            for (int i = 0; i < image::height * pitch; i += lanes) {
                const vf a = load(x + 2 * i), b = load(x + 2 * i + lanes);
                store(to + i, shuffle<every_second<0>>(a, b));
                store(to + plane + i, shuffle<every_second<1>>(a, b));
            }
        else
            for (int i = 0; i < image::height * pitch; ++i)
                for (int p = 0; p < planes; ++p) to[p * plane + i] = x[i * planes + p];
    }

    /// One tap of one input channel: x is where the first window's lies.
    template <int KX, int G, int... I>
    static SINTER_INLINE void add_tap(vf (&s)[std::size_t{4 * G}], const float* x, const float* w,
                                      std::integer_sequence<int, I...>) {
        const vf in[4] = {load(x + KX % 2 * (CI * plane) + KX / 2),
                          load(x + (KX + 1) % 2 * (CI * plane) + (KX + 1) / 2),
                          load(x + KX % 2 * (CI * plane) + KX / 2 + pitch),
                          load(x + (KX + 1) % 2 * (CI * plane) + (KX + 1) / 2 + pitch)};
        ((s[I] = fma(in[I % 4], splat(w[I / 4]), s[I])), ...);
    }

    /// The sums of `lanes` windows for G channels, pooled: best[channel][window], and their places
    /// as bytes.
    template <int G>
    static __attribute__((noinline)) void windows(const float* x, const float* w, vf* best, vi* place) {
        vf s[std::size_t{4 * G}];
        clear_block(s);
        for (int ky = 0; ky < KH; ++ky, x += pitch)
            unroll<KW>([&](auto kx) SINTER_ALWAYS {
                for (int i = 0; i < CI; ++i, w += lanes) {
                    // Taps share inputs, which a compiler that notices keeps in registers that it
                    // does not have.
                    const float* in = x + i * plane;
                    asm("" : "+r"(in));
                    add_tap<kx, G>(s, in, w, indices<4 * G>{});
                }
            });
        unroll<G>([&](auto o) SINTER_ALWAYS {
            const first_max m = largest_of_four(s[4 * o], s[4 * o + 1], s[4 * o + 2], s[4 * o + 3]);
            best[o] = m.best;
            place[o] = m.place;
        });
    }

    static void run(const call& c) {
        float* copy = c.scratch + first_part(c) * own;
        float* x = copy + image_floats;
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        vf best[lanes];
        vi place[lanes];
        std::fill_n(best, lanes, zero());
        for (std::int64_t i = begin; i < end; ++i) {
            image::copy(c.p[conv_operand::source] + i * (H * W * CI), copy, i == begin);
            part(copy, x);
            for (int py = 0; py < rows; ++py)
                for (int px = 0; px < columns; px += lanes) {
                    unroll<groups>([&](auto g) SINTER_ALWAYS {
                        constexpr int o = g * group;
                        windows<std::min(group, CO - o)>(x + 2 * py * pitch + px, c.p[conv_operand::weights] + o,
                                                         best + o, place + o);
                    });
                    emit(best, place, (i * rows + py) * columns + px, std::min(lanes, columns - px), c);
                }
        }
    }

    /// Iterations n windows of all channels and hands them to the body.
    static SINTER_INLINE void emit(const vf* best, const vi* place, std::int64_t pixel, int n, const call& c) {
        if constexpr (pairs) {
            emit_pairs(best, pixel, n, c);
        } else {
            emit_windows<Body, CO>(best, pixel, 1, n, c);
        }
        emit_places<CO>(place, pixel, 1, n, c);
    }

    /// Two windows in a vector, where the body takes them so.
    static constexpr bool pairs = [] {
        if constexpr (requires { requires Body::alike && Body::sums == 0; })
            return lanes == 16 && CO > 4 && CO <= 6 && columns % 2 == 0;
        else return false;
    }();
    /// Of two windows' first four channels, in a quarter of a vector each, those of quarter Q, with
    /// room for the others between; and these, two and two in a quarter.
    template <int Q>
    struct first_channels {
        static constexpr int lane(int l) { return 4 * Q + l % CO % 4 + l / CO % 2 * lanes; }
    };
    template <int Q>
    struct other_channels {
        static constexpr int lane(int l) { return l % CO < 4 ? l : lanes + 4 * Q + l / CO % 2 * 2 + l % CO % 4; }
    };
    static SINTER_INLINE void emit_pairs(const vf* best, std::int64_t pixel, int n, const call& c) {
        vf first[4] = {best[0], best[1], best[2], best[3]};
        const vf last = CO > 5 ? best[5] : zero();
        transpose_quads(first);
        const vf others[2] = {shuffle<zip_quads<1, 0>>(best[4], last), shuffle<zip_quads<1, 1>>(best[4], last)};
        unroll<lanes / 2>([&](auto k) SINTER_ALWAYS {
            constexpr int q = k / 2, h = k % 2;
            const vf two =
                shuffle<other_channels<q>>(shuffle<first_channels<q>>(first[2 * h], first[2 * h + 1]), others[h]);
            if (2 * k < n) Body::template several_rows<CO, 2>(two, (pixel + 2 * k) * CO, pixel + 2 * k, c);
        });
    }
};

} // namespace sinter::cpu
