// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv/conv_forward.hpp>
#include <sinter/kernel/cpu/pool/first_max.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_max_pool_forward with lanes along output channels. Deep sums go through a buffer of P rows
/// in the first-level cache, which costs them nothing. Shallow ones (the first layer of a net) are
/// pooled in registers: there the detour would cost as much as the sums.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct conv_max_pool_channels {
    static constexpr int phases = 1, rows = OH / P, columns = OW / P, depth = KH * KW * CI;
    static constexpr bool shallow = P == 2 && depth <= 64;
    using source = conv_source<H, W, CI, OH, OW, KH, KW, S, PT, PL, shallow>;
    static constexpr std::int64_t scratch(int parts) { return parts * source::floats; }
    static void finish(const call&) {}

    template <int V, int Valid>
    static void through_buffer(const float* x, const float* w, std::int64_t image, int col, const call& c) {
        constexpr int n = columns * P, step = V * lanes;
        alignas(64) float buffer[P * row_floats(n)];
        for (int py = 0; py < rows; ++py) {
            for (int dy = 0; dy < P; ++dy)
                source::template row<n, V>(x, w, py * P + dy, row_buffer{buffer + dy * n * step, step});
            for (int px = 0; px < columns; ++px) {
                const std::int64_t pixel = (image * rows + py) * columns + px;
                const float* at = buffer + px * P * step;
                unroll<V>([&](auto j) SINTER_ALWAYS {
                    first_max m{load(at + j * lanes)};
                    for (int q = 1; q < P * P; ++q) m.see(load(at + (q / P * n + q % P) * step + j * lanes), q);
                    emit_pooled<Body, Valid - j * lanes>(m, pixel * CO + col + j * lanes, pixel, col + j * lanes, c);
                });
            }
        }
    }

    static constexpr int pitch = source::width * CI;
    /// Where pixel i = 4 * window + place of a row of windows begins.
    static constexpr int start(int i) { return i % 4 / 2 * S * pitch + (i / 4 * 2 + i % 2) * (S * CI); }
    template <int V, std::size_t N, int... I, int... J>
    static SINTER_INLINE void add_tap(vf (&s)[N], const float* x, const float* w, std::integer_sequence<int, I...>,
                                      std::integer_sequence<int, J...>) {
        vf b[std::size_t{V}] = {load(w + J * lanes)...};
        if constexpr (N == 4 * V) (pin(b[J]), ...);
        ((s[I] = fma(splat(x[start(I / V)]), b[I % V], s[I])), ...);
    }

    /// T windows of a row at once: 4 T pixels of V vectors.
    template <int T, int V, int Valid>
    static SINTER_INLINE void windows(const float* x, const float* w, std::int64_t pixel, int col, const call& c) {
        constexpr int run_length = KW * CI;
        vf s[std::size_t{4 * T * V}];
        clear_block(s);
        const auto tap = [&](int t) SINTER_ALWAYS {
            // Neighbouring pixels share inputs. A compiler that notices keeps them all, in
            // registers that it does not have.
            const float* in = x + t;
            asm("" : "+r"(in));
            add_tap<V>(s, in, w + t * V * lanes, indices<4 * T * V>{}, indices<V>{});
        };
        for (int ky = 0; ky < KH; ++ky, x += pitch, w += run_length * V * lanes) {
            if constexpr (run_length <= 5)
                unroll<run_length>([&](auto t) SINTER_ALWAYS { tap(t); });
            else
                for (int t = 0; t < run_length; ++t) tap(t);
        }
        unroll<T * V>([&](auto i) SINTER_ALWAYS {
            constexpr int j = i % V, t = i / V;
            const first_max m = largest_of_four(s[4 * t * V + j], s[(4 * t + 1) * V + j], s[(4 * t + 2) * V + j],
                                                s[(4 * t + 3) * V + j]);
            emit_pooled<Body, Valid - j * lanes>(m, (pixel + t) * CO + col + j * lanes, pixel + t, col + j * lanes, c);
        });
    }

    template <int V, int Valid>
    static void in_registers(const float* x, const float* w, std::int64_t image, int col, const call& c) {
        using tiles = pixel_tiles<columns, (registers >= 32 ? 6 : 3) / V>;
        for (int py = 0; py < rows; ++py, x += 2 * S * source::width * CI) {
            const std::int64_t pixel = (image * rows + py) * columns;
            int px = 0;
            if constexpr (tiles::larger > 0)
                for (; px < tiles::start(tiles::larger); px += tiles::least + 1)
                    windows<tiles::least + 1, V, Valid>(x + 2 * px * S * CI, w, pixel + px, col, c);
            for (; px < columns; px += tiles::least)
                windows<tiles::least, V, Valid>(x + 2 * px * S * CI, w, pixel + px, col, c);
        }
    }

    template <int V, int Valid>
    static void image(const float* x, const float* w, std::int64_t image, int col, const call& c) {
        if constexpr (shallow)
            in_registers<V, Valid>(x, w, image, col, c);
        else
            through_buffer<V, Valid>(x, w, image, col, c);
    }

    static void run(const call& c) {
        static_assert(rows > 0 && columns > 0, "the pool's window is larger than the convolution's result");
        for_source_and_panels<source, CO, depth>(
            c, [&](auto valid, const float* x, const float* w, std::int64_t i, int col)
                   SINTER_ALWAYS { image<(valid > lanes) + 1, valid>(x, w, i, col, c); });
    }
};

} // namespace sinter::cpu
