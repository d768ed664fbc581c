// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/base/round_up.hpp>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/emit_pixels.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/rowwise/producer_rows.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_forward's operands and body, for so few channels that go out (a mask, three colours) that a
/// vector along them would be nearly empty: lanes run along channels that come in. A tile is as
/// many pixels as give one vector of results, which are the sums of its vectors' lanes.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct narrow_forward {
    static constexpr int phases = 1, vectors = CI / lanes, pixels = lanes / CO, tap = CO * lanes;
    /// Columns that windows of the first and of the last pixels stick out by; those of one tile
    /// only, if it pays.
    static constexpr int left = std::max(0, PL), right = std::max(0, (OW - 1) * S - PL + KW - W);
    static constexpr bool pays =
        lanes >= 8 && CO <= lanes / 2 && CI % lanes == 0 && OW >= pixels && pixels * S >= std::max(left, right);

    static constexpr std::int64_t weight_floats = std::int64_t{KH} * KW * CI * CO,
                                  row_floats = round_up(OW * CO, lanes) + lanes;
    static constexpr std::int64_t floats = weight_floats + row_floats;
    static constexpr std::int64_t scratch(int parts) { return parts * floats; }
    static void finish(const call&) {}

    static void run(const call& c) {
        constexpr std::int64_t row_step = std::int64_t{W} * CI;
        const std::int64_t first = share(c.m * OH, c.part, c.parts),
                           end = share(c.m * OH, c.part + 1, c.parts);   // rows of the result
        float* const weights = c.scratch + first_part(c) * floats;
        float* const row = weights + weight_floats;
        if (c.part == first_part(c)) transpose_weights(c.p[conv_operand::weights], weights);
        producer_rows producer(c, first * W);   // of windows of single pixels, one row for each
        for (std::int64_t i = first; i < end; ++i) {
            const int y = static_cast<int>(i % OH) * S - PT, low = std::clamp(-y, 0, KH),
                      high = std::clamp(H - y, low, KH);
            const float* const image = c.p[conv_operand::source] + i / OH * (H * row_step);
            producer.make_until((i + 1) * W);
            // what the next row's windows read besides
            base::prefetch_lines(image + (y + KH) * row_step, 4 * S * row_step);
            sum_row(image + (y + low) * row_step, high - low, weights + low * (KW * CI * CO), row);
            emit_pixels<Body, CO>(row, CO, OW, i * OW * CO, CO, i * OW, 0, c);
        }
    }

private:
    /// [KH][CI / lanes][KW][CO][lanes] of packed [KH][KW][CI][lanes].
    static void transpose_weights(const float* from, float* to) {
        for (int ky = 0; ky < KH; ++ky)
            for (int v = 0; v < vectors; ++v)
                for (int kx = 0; kx < KW; ++kx, to += tap)
                    transpose_matrix(from + ((ky * KW + kx) * CI + v * lanes) * lanes, lanes, lanes, CO, to, lanes,
                                     false);
    }

    /// All pixels of a row of the result, from `rows` rows of the image.
    static void sum_row(const float* x, int rows, const float* w, float* to) {
        constexpr int last = OW - pixels;
        tile<left, std::max(0, right - last * S)>(x, rows, w, 0, to);
        for (int at = pixels; at < last; at += pixels) tile<0, 0>(x, rows, w, std::min(at, last - pixels), to);
        if constexpr (last > 0) tile<std::max(0, left - last * S), right>(x, rows, w, last, to);
    }

    static constexpr bool shares =
        (pixels + KW) * CO + 1 < registers;   ///< inputs between pixels, where registers hold all taps' weights

    template <int L, int R>
    static __attribute__((noinline)) void tile(const float* x, int rows, const float* w, int first, float* to) {
        vf c[lanes];
        clear_block(c);
        x += (std::ptrdiff_t{first} * S - PL) * CI;
        for (int k = 0; k < rows; ++k, x += std::ptrdiff_t{W} * CI)
            for (int v = 0; v < vectors; ++v, w += KW * tap) {
                const float* const in = x + v * lanes;
                if constexpr (shares) add_columns<L, R>(c, in, w);
                else unroll<KW>([&](auto kx) SINTER_ALWAYS { add_tap<L, R, kx>(c, in, w + kx * tap); });
            }
        store(to + first * CO, sums_of_lanes(c));
    }
    static constexpr int columns = (pixels - 1) * S + KW;   ///< of a tile's windows
    /// Column by column, each loaded once.
    template <int L, int R>
    static SINTER_INLINE void add_columns(vf (&c)[lanes], const float* x, const float* w) {
        vf b[std::size_t{KW * CO}];
        load_block<1>(b, w, lanes);
        unroll<columns>([&](auto column) SINTER_ALWAYS {
            if constexpr (column >= L && column < columns - R) {
                const vf in = load(x + column * CI);
                unroll<KW>([&](auto kx) SINTER_ALWAYS {
                    constexpr int from = column - kx, i = from / S;
                    if constexpr (from >= 0 && from % S == 0 && i < pixels)
                        unroll<CO>([&](auto o)
                                       SINTER_ALWAYS { c[i * CO + o] = fma(in, b[kx * CO + o], c[i * CO + o]); });
                });
            }
        });
    }
    /// One tap of all pixels.
    template <int L, int R, int X>
    static SINTER_INLINE void add_tap(vf (&c)[lanes], const float* x, const float* w) {
        vf b[std::size_t{CO}];
        load_block<1>(b, w, lanes);
        unroll<pixels>([&](auto i) SINTER_ALWAYS {
            constexpr int column = i * S + X;
            if constexpr (column >= L && column < columns - R) {
                vf in = load(x + column * CI);
                pin(in);
                unroll<CO>([&](auto o) SINTER_ALWAYS { c[i * CO + o] = fma(in, b[o], c[i * CO + o]); });
            }
        });
    }
};

} // namespace sinter::cpu
