// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/conv_sums.hpp>
#include <sinter/kernel/cpu/conv/window_overlap.hpp>
#include <sinter/kernel/cpu/gemm/weight_gradient/narrow_gradient.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_weight_gradient's operands and body, for so few channels that go out that a vector along
/// them would be nearly empty: lanes run along a line of taps, (kx, ci), which lie side by side in
/// the image. Each part sums its images.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct narrow_weight_gradient {
    static constexpr int phases = 2, line = KW * CI, vectors = line / lanes;
    static constexpr bool pays = lanes >= 8 && CO <= lanes / 2 && CI % lanes == 0;
    using sums = conv_sums<KH * KW * CI, CO, Body>;
    static constexpr std::int64_t transposed_floats =
        std::int64_t{KH} * CO * line;   ///< sums while they are made, [KH][CO][KW * CI]
    static constexpr std::int64_t scratch(int parts) { return parts * (sums::floats + transposed_floats); }
    static void finish(const call& c) { sums::finish(c); }

    static void run(const call& c) {
        float* const transposed = c.scratch + c.parts * sums::floats + c.part * transposed_floats;
        std::fill_n(transposed, transposed_floats, 0.f);
        for (std::int64_t i = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts); i < end; ++i)
            for (int y = 0; y < OH; y += block_rows)
                add_rows(c.p[conv_weight_gradient_operand::x] + i * (std::int64_t{H} * W * CI),
                         c.p[conv_weight_gradient_operand::dy] + i * (std::int64_t{OH} * OW * CO), y,
                         std::min(y + block_rows, OH), transposed);
        float* const packed = c.scratch + c.part * sums::floats;
        for (int ky = 0; ky < KH; ++ky)
            rows_of_columns(transposed + ky * CO * line, line, CO, line, packed + ky * line * lanes);
    }

private:
    /// Rows of the result whose windows stay in the first-level cache while all lines of taps pass.
    static constexpr int block_rows = std::clamp(static_cast<int>(first_level_floats * 3 / 4 / (W * CI)) / S, 1, OH);
    static constexpr int at_once = std::max(1, (registers - 2 - CO) * 5 / 6 / CO);   ///< vectors of a line
    /// Pixels that are summed apart where a line has few vectors: a sum has to wait for the one
    /// before.
    static constexpr int streams = vectors * CO >= 8 ? 1 : 8 / (vectors * CO);
    /// Pixels whose windows lie within the row.
    static constexpr int low = std::min(OW, window_overlap(W, 0, S, PL, 0, OW).begin);
    static constexpr int high = std::max(low, window_overlap(W, KW - 1, S, PL, 0, OW).end);

    static void add_rows(const float* x, const float* dy, int first, int last, float* to) {
        for (int ky = 0; ky < KH; ++ky, to += CO * line) {
            const window_overlap overlapped(H, ky, S, PT, first, last);
            if (!overlapped.any()) continue;
            const float* const a =
                x + std::ptrdiff_t{(overlapped.begin * S - PT + ky) * W - PL} * CI;   // of the first pixel's window
            const float* const d = dy + std::ptrdiff_t{overlapped.begin} * OW * CO;
            constexpr int whole = vectors / at_once, rest = vectors % at_once;
            for (int v = 0; v < whole; ++v)
                add_inner<at_once>(a + v * at_once * lanes, d, overlapped.count(), to + v * at_once * lanes);
            if constexpr (rest > 0)
                add_inner<rest>(a + whole * at_once * lanes, d, overlapped.count(), to + whole * at_once * lanes);
            if constexpr (low > 0 || high < OW) add_edges(a, d, overlapped.count(), to);
        }
    }
    /// V vectors of a line of taps, of the pixels whose windows lie within their row.
    template <int V>
    static __attribute__((noinline)) void add_inner(const float* x, const float* dy, int rows, float* to) {
        vf s[std::size_t{streams}][std::size_t{CO * V}];
        load_block<V>(s[0], to, line);
        unroll<streams - 1>([&](auto k) SINTER_ALWAYS { clear_block(s[k + 1]); });
        const auto pixel = [&](auto stream, const float* a, const float* d) SINTER_ALWAYS {
            vf factor[std::size_t{CO}];
            unroll<CO>([&](auto o) SINTER_ALWAYS { factor[o] = splat(d[o]); });
            unroll<V>([&](auto v) SINTER_ALWAYS {
                vf in = load(a + v * lanes);
                if constexpr (CO > 1) pin(in);
                unroll<CO>([&](auto o)
                               SINTER_ALWAYS { s[stream][o * V + v] = fma(in, factor[o], s[stream][o * V + v]); });
            });
        };
        for (int y = 0; y < rows; ++y, x += std::ptrdiff_t{S} * W * CI, dy += OW * CO) {
            const float *a = x + low * S * CI, *d = dy + low * CO;
            int i = low;
            for (; i + streams <= high; i += streams, a += streams * S * CI, d += streams * CO)
                unroll<streams>([&](auto k) SINTER_ALWAYS { pixel(k, a + k * S * CI, d + k * CO); });
            for (; i < high; ++i, a += S * CI, d += CO) pixel(std::integral_constant<int, 0>{}, a, d);
        }
        unroll<streams - 1>([&](auto k) SINTER_ALWAYS {
            unroll<CO * V>([&](auto j) SINTER_ALWAYS { s[0][j] += s[k + 1][j]; });
        });
        store_block<V>(s[0], to, line);
    }
    /// The taps that lie within the row, of the other pixels.
    static __attribute__((noinline)) void add_edges(const float* x, const float* dy, int rows, float* to) {
        for (int y = 0; y < rows; ++y, x += std::ptrdiff_t{S} * W * CI, dy += OW * CO)
            for (int i = low > 0 ? 0 : high; i < OW; i = i + 1 == low ? high : i + 1) {
                const int from = std::clamp(PL - i * S, 0, KW), until = std::clamp(W + PL - i * S, from, KW);
                for (int o = 0; o < CO; ++o) {
                    const vf factor = splat(dy[i * CO + o]);
                    for (int k = from * CI; k < until * CI; k += lanes)
                        store(to + o * line + k, fma(load(x + i * S * CI + k), factor, load(to + o * line + k)));
                }
            }
    }
};

} // namespace sinter::cpu
